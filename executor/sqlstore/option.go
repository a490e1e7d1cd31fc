package sqlstore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// Option configures [Open]. A bad one is an error of Open's; all faults are
// reported at once.
type Option struct {
	name  string
	apply func(*config) error
}

type config struct {
	authenticate taskstore.Authenticator
	prefix       string
	lease        time.Duration
	maxBytes     int
	conns        int
	keep         []keep
	keepNumber   int // 0: any
	keepFlows    time.Duration
	purgeEvery   time.Duration
	now          func() time.Time
}

// keep is how long tasks in some states stay.
type keep struct {
	age    time.Duration
	states []a2a.TaskState
}

func newConfig(opts []Option) (config, error) {
	c := config{
		authenticate: a2asrv.NewTaskStoreAuthenticator(),
		lease:        15 * time.Second,
		maxBytes:     64 << 20,
		conns:        10,
		purgeEvery:   10 * time.Minute,
		prefix:       "a2a_",
		now:          time.Now,
	}
	var faults []error
	for _, o := range opts {
		if o.apply == nil {
			continue
		}
		if err := o.apply(&c); err != nil {
			faults = append(faults, fmt.Errorf("option %s: %w", o.name, err))
		}
	}
	return c, errors.Join(faults...)
}

// Authenticator tells whose tasks a call is about: one user's are not there for
// others. Default: the user of the host's call context, as with the host's
// store in memory. Of a recovered run it has the user with the attributes that were kept
// (executor.RequestToKeep); of a task that has been parked for too long nothing but its own last answer, as the user's name.
func Authenticator(f taskstore.Authenticator) Option {
	return Option{"Authenticator", func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.authenticate = f
		return nil
	}}
}

var prefixes = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Prefix begins the names of the tables: lower-case letters, digits and
// underscores, at most 32. Each agent that shares a database with a different
// agent needs its own. Default: "a2a_".
func Prefix(p string) Option {
	return Option{"Prefix", func(c *config) error {
		if !prefixes.MatchString(p) {
			return fmt.Errorf("%q: expected something like %q", p, "loans_")
		}
		c.prefix = p
		return nil
	}}
}

// Lease is how long the tasks that a process works on stay its own when nothing
// is heard of it, by the database's clock; the executor renews leases three times
// as often. Default: 15 s; less than 100 ms is an error.
func Lease(d time.Duration) Option {
	return Option{"Lease", func(c *config) error {
		c.lease = d
		if d < 100*time.Millisecond {
			return fmt.Errorf("%v: expected 100 ms or more", d)
		}
		return nil
	}}
}

// MaxBytes bounds the size of one task and of one checkpoint as they are stored; a larger one
// is refused with [ErrTooLarge]. Default: 64 MiB; 0 is no bound.
func MaxBytes(n int) Option {
	return Option{"MaxBytes", func(c *config) error {
		c.maxBytes = n
		return notNegative(n)
	}}
}

// Conns is how many connections may be open at once; SQLite, which has one
// writer, uses them for reading. PostgreSQL has one more, for the heartbeat. Default: 10; less than 1 is an error.
func Conns(n int) Option {
	return Option{"Conns", func(c *config) error {
		c.conns = n
		if n < 1 {
			return fmt.Errorf("%d: expected 1 or more", n)
		}
		return nil
	}}
}

// Keep is how long tasks stay after they came into one of the states; then they
// are removed with their push configurations and flows. The states are those in
// which nothing works on a task; without any, the four that end one. The
// shortest time counts where a state is named twice. Default: for ever.
func Keep(d time.Duration, states ...a2a.TaskState) Option {
	return Option{"Keep", func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("%v: expected more than 0", d)
		}
		if len(states) == 0 {
			states = ended
		}
		for _, s := range states {
			if !s.Terminal() && !parked(s) {
				return fmt.Errorf("%s: tasks in this state are not removed", s)
			}
		}
		c.keep = append(c.keep, keep{d, slices.Clone(states)})
		return nil
	}}
}

// KeepNumber is how many tasks that have ended stay, of all users together: of more
// those that ended last. The others are removed with their push configurations
// and flows; tasks that are at work or parked stay, and count for nothing. With
// [Keep] a task goes by whichever comes first. Default: any number; less than 1
// is an error.
func KeepNumber(n int) Option {
	return Option{"KeepNumber", func(c *config) error {
		c.keepNumber = n
		if n < 1 {
			return fmt.Errorf("%d: expected 1 or more", n)
		}
		return nil
	}}
}

// KeepFlows is how long a flow's run stays after its last checkpoint, for runs that
// are not of a task. Default: for ever.
func KeepFlows(d time.Duration) Option {
	return Option{"KeepFlows", func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("%v: expected more than 0", d)
		}
		c.keepFlows = d
		return nil
	}}
}

// PurgeEvery is how often what [Keep], [KeepNumber] and [KeepFlows] say is carried out in the
// background. Default: 10 min; 0 leaves it to [DB.Purge].
func PurgeEvery(d time.Duration) Option {
	return Option{"PurgeEvery", func(c *config) error {
		c.purgeEvery = d
		return notNegative(d)
	}}
}

func notNegative[T int | time.Duration](v T) error {
	if v < 0 {
		return fmt.Errorf("%v: expected 0 or more", v)
	}
	return nil
}

var ended = []a2a.TaskState{
	a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
}

// hasEnded are the same in SQL, as in the index.
const hasEnded = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`

// parked reports whether a task in this state waits for its client.
func parked(s a2a.TaskState) bool {
	return s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}
