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

// ask calls the store, with its panics contained. Its context ends later than that
// of the run, since what was done is to be kept; one that does not return then is
// left behind.
func (s *session) ask(call func(context.Context) error) error {
	ctx := s.base.run
	if ctx.Done() == nil || s.cfg.nest != nil { // then the outer run does this
		return contain(func() error { return call(context.WithoutCancel(ctx)) })
	}
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
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
