package executor

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// LeaseStore is a [TaskStore] that outlives the process, and that several
// processes may share; package executor/sqlstore has two. Each process holds leases of the
// tasks that it works on and renews them while it lives, so that no two work on
// one task, and that the tasks of one that died are taken over, see [RecoverEvery].
//
// Its Create leases a task that is at work to this process at once, its Update
// ends the lease of one that has ended or is parked, unless the update's event
// is a message. Who takes a lease over makes the task's version another, so
// that whoever had it before can write no more. Both keep with the task what
// [RequestToKeep] gives, until the lease ends.
type LeaseStore interface {
	taskstore.Store
	// LeaseTime is how long a lease holds that is not renewed.
	LeaseTime() time.Duration
	// Acquire takes the lease of a parked task of the caller's, and reports false
	// when another process has it, or the task is at work. A task that does not exist, or is not the
	// caller's, it leaves to others to refuse.
	Acquire(ctx context.Context, id a2a.TaskID) (bool, error)
	// Release gives a lease back, if this process has it.
	Release(ctx context.Context, id a2a.TaskID) error
	// Renew renews the leases of this process, and gives those of the ids that
	// are not its own any more.
	Renew(ctx context.Context, ids []a2a.TaskID) (lost []a2a.TaskID, err error)
	// Orphans takes the leases of some tasks that are at work, but that no living process
	// has a lease of. Those that it gives beside an error are taken, too.
	Orphans(ctx context.Context, most int) ([]Orphan, error)
	// Overdue does the same with tasks that have been parked for that long; an
	// update by a message is not parking.
	Overdue(ctx context.Context, parkedFor time.Duration, most int) ([]Orphan, error)
}

// Orphan is a task that nobody works on and whose lease this process has just
// taken.
type Orphan struct {
	Task a2a.TaskID
	// Owner is whose task it is: the name of the call context's user.
	Owner string
	// Request is what [RequestToKeep] gave, "" if nothing did.
	Request string
}

// leases is a LeaseStore whose panics are errors.
type leases struct {
	store LeaseStore
	*config
}

func (l *leases) acquire(ctx context.Context, id a2a.TaskID) (ok bool, err error) {
	defer l.contain(ctx, &err)
	return l.store.Acquire(ctx, id)
}

func (l *leases) release(ctx context.Context, id a2a.TaskID) (err error) {
	defer l.contain(ctx, &err)
	return l.store.Release(ctx, id)
}

// renew leaves a store that does not heed its context behind.
func (l *leases) renew(ctx context.Context, ids []a2a.TaskID) ([]a2a.TaskID, error) {
	type answer struct {
		lost []a2a.TaskID
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errHandlerExited} // should it exit the goroutine
		defer func() { done <- a }()
		defer l.contain(ctx, &a.err)
		a.lost, a.err = l.store.Renew(ctx, ids)
	}()
	select {
	case a := <-done:
		return a.lost, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *leases) orphans(ctx context.Context, most int) (found []Orphan, err error) {
	defer l.contain(ctx, &err)
	return l.store.Orphans(ctx, most)
}

func (l *leases) overdue(ctx context.Context, parkedFor time.Duration, most int) (found []Orphan, err error) {
	defer l.contain(ctx, &err)
	return l.store.Overdue(ctx, parkedFor, most)
}

func (l *leases) time() (d time.Duration) {
	defer func() {
		if recover() != nil || d <= 0 {
			d = 15 * time.Second
		}
	}()
	return l.store.LeaseTime()
}

func (l *leases) contain(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		*err = l.panicked(ctx, v)
	}
}

// acquire takes the lease of a follow-up's task; the ticket remembers it.
func (x *agentExecutor) acquire(ctx context.Context, t *ticket) error {
	if x.leases == nil || t.task == "" {
		return nil
	}
	ok, err := x.leases.acquire(ctx, t.task)
	if err == nil && !ok {
		err = errBusy
	}
	t.leased = err == nil
	return away(ctx, err)
}

// handBack ends an admission; see registry.giveBack.
func (x *agentExecutor) handBack(ctx context.Context, t *ticket) {
	if t.leased && !x.taken(t) {
		x.letGo(ctx, t.task)
	}
	x.giveBack(t)
}

// letGo gives back the lease of a task that nothing works on any more, although
// it is not stored that it has ended or is parked. It reports false where that
// fails; it is tried again later.
func (x *agentExecutor) letGo(ctx context.Context, id a2a.TaskID) bool {
	if x.leases == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.leases.time())
	defer cancel()
	err := x.leases.release(ctx, id)
	if err != nil {
		emit(ctx, x.logger, slog.LevelWarn, "a lease could not be given back", append(causeAttrs(err), slog.String("task_id", string(id)))...)
	}
	x.owe(id, err != nil)
	return err == nil
}

// letGoOfOwed tries again what letGo could not do, unless the task has come back
// here meanwhile. Where one fails the others have time.
func (x *agentExecutor) letGoOfOwed(ctx context.Context) {
	for _, id := range x.owed() {
		if !x.claim(id) {
			continue
		}
		ok := x.letGo(ctx, id)
		x.disclaim(id)
		if !ok {
			return
		}
	}
}

// keepLeases renews the leases of all runs until there are none, which idle
// tells. One that fails is tried again while there is time. Leases that cannot be
// renewed in time count as lost: another process may have taken them.
func (x *agentExecutor) keepLeases(idle <-chan struct{}) {
	lease := x.leases.time()
	next := time.NewTimer(lease / 6)
	defer next.Stop()
	until := time.Now().Add(lease / 2) // a new lease is good for half of its time at least
	for {
		select {
		case <-idle:
			return
		case <-next.C:
		}
		began := time.Now()
		err := x.renew(min(lease/6, max(time.Until(until), lease/12)))
		switch pause := lease / 12; {
		case err == nil:
			until = began.Add(lease)
			x.later(0, func() { x.letGoOfOwed(context.Background()) }) // the next heartbeat must not wait for it
			next.Reset(lease / 3)
		case time.Until(until) > pause:
			next.Reset(pause)
		default: // there is no time for another try
			for _, r := range x.runs() {
				x.lose(context.Background(), r, fmt.Errorf("leases cannot be renewed: %w", err))
			}
			next.Reset(pause)
		}
	}
}

// renew renews the leases of all runs, and stops those that lost theirs. Whose
// task was being written meanwhile learns of it by that, or the next time: a lease
// begins with the task's first write and ends with its last, before the run is told.
func (x *agentExecutor) renew(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	runs, writes := x.runs(), map[a2a.TaskID]int{}
	for id, r := range runs {
		if n, quiet := r.quiet(); quiet {
			writes[id] = n
		}
	}
	lost, err := x.leases.renew(ctx, slices.Collect(maps.Keys(writes)))
	for _, id := range lost {
		r := runs[id]
		if r == nil {
			continue
		}
		if n, quiet := r.quiet(); quiet && n == writes[id] {
			x.lose(ctx, r, nil)
		}
	}
	return err
}

// errLeaseLost stops a run whose task is another process's. What clients of
// this process hear is an error, for the task goes on.
var errLeaseLost = refuse(a2a.ErrInternalError, "The task goes on in another process of this server; ask for it again.")

// lose stops a run without an ending: the task is another process's, or was
// ended by one. why is what kept this process from holding on to it, if anything did.
// Should the lease be this process's after all, it is given back.
func (x *agentExecutor) lose(ctx context.Context, r *run, why error) {
	r.known.Lock()
	already := r.foreign
	r.foreign = true
	r.known.Unlock()
	if already {
		return
	}
	x.owe(r.task.ID, true)
	r.moveOn()
	r.cancel(errLeaseLost)
	r.log(ctx, "the run's lease is lost, it is stopped", why)
}

func (r *run) isLost() bool {
	r.known.Lock()
	defer r.known.Unlock()
	return r.foreign
}
