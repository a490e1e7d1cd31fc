package executor

import (
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// Push configures [PushNotifications]. The zero value of each field is its
// default.
type Push struct {
	// Store keeps the clients' configurations. Default: in memory; those of a
	// task that the default task store forgets are forgotten too.
	Store push.ConfigStore
	// Sender sends one event to one receiver; an error means that it did not
	// arrive. Default: the host's HTTP sender, which refuses to connect to
	// loopback, private and link-local addresses, for the URLs are the
	// clients'. Where an HTTP proxy is set in the environment, the proxy must
	// refuse them. To reach a network of one's own, give
	//
	//	push.NewHTTPPushSender(&push.HTTPSenderConfig{FailOnError: true, AllowPrivateNetworks: true})
	//
	// Without FailOnError the host's sender tells of no error, and nothing is
	// sent again.
	Sender push.Sender
	// Attempts is how often one event is sent to one receiver at most.
	// Default: 4. An error is taken to pass, unless it is an errcode.Error that
	// says otherwise.
	Attempts int
	// Timeout is how long one attempt may take. Default: 10 s. A sender that
	// does not heed its context is left behind then, and that event is not sent
	// again.
	Timeout time.Duration
	// Within is the time from the first attempt to the start of the last; the
	// delays between them double from 500 ms, or are those that the receiver
	// asked for. Default: 1 min.
	Within time.Duration
	// Queue is how many events wait at most, over all tasks. When it is full,
	// the oldest that waits for the same task is dropped, or the new one where
	// none does, and the log says so. Default: 1024.
	Queue int
}

// The defaults of [Push].
const (
	defaultPushAttempts = 4
	defaultPushTimeout  = 10 * time.Second
	defaultPushWithin   = time.Minute
	defaultPushQueue    = 1024
	pushDelay           = 500 * time.Millisecond
)

// PushNotifications lets clients register receivers for the events of their
// tasks (A2A v1.0 section 3.5.3), and says so in the agent card. Whatever Store and Sender
// do (fail, panic, hang), the task is untouched: events are sent from
// goroutines of their own, each task's in their order, again where that failed,
// and dropped with a line in the log where it goes on failing. A shutdown waits
// for what is still to be sent. Default: no push notifications.
func PushNotifications(p Push) Option {
	return Option{name: "PushNotifications", apply: func(c *config) error {
		if p.Attempts < 0 || p.Timeout < 0 || p.Within < 0 || p.Queue < 0 {
			return fmt.Errorf("%+v: expected 0 or more in each field", struct {
				Attempts        int
				Timeout, Within time.Duration
				Queue           int
			}{p.Attempts, p.Timeout, p.Within, p.Queue})
		}
		c.push = &p
		return nil
	}}
}

// withDefaults fills what was not given. It reports whether the store and the
// sender are the defaults.
func (p Push) withDefaults() (full Push, ownStore, ownSender bool) {
	setDefault(&p.Attempts, defaultPushAttempts)
	setDefault(&p.Timeout, defaultPushTimeout)
	setDefault(&p.Within, defaultPushWithin)
	setDefault(&p.Queue, defaultPushQueue)
	if ownStore = p.Store == nil; ownStore {
		p.Store = push.NewInMemoryStore()
	}
	if ownSender = p.Sender == nil; ownSender {
		p.Sender = push.NewHTTPPushSender(&push.HTTPSenderConfig{Timeout: p.Timeout, FailOnError: true})
	}
	return p, ownStore, ownSender
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
