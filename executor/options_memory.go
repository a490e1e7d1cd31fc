package executor

import (
	"errors"
	"fmt"
	"time"
)

// The defaults of [KeepFinished].
const (
	defaultKeepAge    = 24 * time.Hour
	defaultKeepNumber = 10_000
)

// KeepFinished bounds how long, and how many, finished tasks are kept by the
// default store, in memory. A task that is older than age, or over number, is
// forgotten with its push notification configs, those first that finished
// longest ago: from then on it is not found. Tasks that run or are parked stay, and so does
// one that a client is still being served with. Age counts from the task's end;
// 0 is no limit of that kind. It is refused beside [TaskStore], whose store
// keeps what it wants. Default: 24 h and 10,000.
//
// Nothing forgets while nothing happens: memory of tasks that are too old is freed
// by later requests.
func KeepFinished(age time.Duration, number int) Option {
	return Option{name: "KeepFinished", apply: func(c *config) error {
		if number < 0 {
			return fmt.Errorf("%d: expected 0 or more", number)
		}
		c.keepAge, c.keepNumber, c.keeps = age, number, true
		return notNegative(age)
	}}
}

// errKeepsElsewhere refuses KeepFinished beside TaskStore.
var errKeepsElsewhere = errors.New("options KeepFinished and TaskStore: expected one of them: KeepFinished is for the default store")
