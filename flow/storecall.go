package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// storeTime is how long a store may go on when the context of a run has ended,
// and again when its own context has.
const storeTime = time.Second

var errStoreExited = errors.New("the store ended its goroutine (runtime.Goexit)")

// storeReturns reports whether nobody need wait for the store: the run's context
// does not end, or the store does not hang, since it is our own, or the outer run,
// which sees to that.
func (s *session) storeReturns(ctx context.Context) bool {
	return s.isMemory() || s.cfg.nest != nil || ctx.Done() == nil
}

// isMemory reports whether the store is our own, which copies what it is given.
func (s *session) isMemory() bool {
	_, yes := s.cfg.store.(*Memory)
	return yes
}

// put is Store.Save as ask calls it. It is called after each node, so it makes no
// function where it can.
func (s *session) put(c Checkpoint) (err error) {
	if !s.store.returns {
		return s.askToSave(c)
	}
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return s.cfg.store.Save(s.store.longer, c)
}

func (s *session) askToSave(c Checkpoint) error {
	return s.ask(func(ctx context.Context) error { return s.cfg.store.Save(ctx, c) })
}

// remove is Store.Delete likewise.
func (s *session) remove() (err error) {
	if !s.store.returns {
		return s.ask(func(ctx context.Context) error { return s.cfg.store.Delete(ctx, s.id) })
	}
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return s.cfg.store.Delete(s.store.longer, s.id)
}

// ask calls the store, with its panics contained. Its context ends later than that
// of the run, since what was done is to be kept; one that does not return then is
// left behind.
func (s *session) ask(call func(context.Context) error) error {
	ctx := s.base.run
	if s.store.returns {
		return contain(func() error { return call(s.store.longer) })
	}
	longer, cancel := context.WithCancelCause(s.store.longer)
	defer cancel(nil)
	answer := make(chan error, 1)
	go func() {
		err := errStoreExited
		defer func() { answer <- err }()
		err = contain(func() error { return call(longer) })
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(storeTime)
	defer late.Stop()
	for range 2 {
		select {
		case err := <-answer:
			return err
		case <-late.C:
			cancel(context.Cause(ctx))
			late.Reset(storeTime)
		}
	}
	cause := context.Cause(ctx)
	return &severalError{text: fmt.Sprintf("the store does not return: %s", errtree.Text(cause)), errs: []error{cause}}
}
