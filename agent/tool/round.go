package tool

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/a2aexec/a2aexec/hitl"
)

// errSibling is why a call is cancelled when another of its round has failed.
var errSibling = errors.New("another call has failed")

// callAll calls the tools, some at once, and gives the results in the order of
// the calls.
func (l *Loop) callAll(ctx context.Context, calls []Call) ([]CallResult, error) {
	round, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]CallResult, len(calls))
	errs := make([]error, len(calls))
	var group errgroup.Group
	group.SetLimit(l.parallel)
	for i, c := range calls {
		group.Go(func() error {
			results[i], errs[i] = l.callOne(round, c)
			if errs[i] != nil && hitl.Find(errs[i]) == nil {
				cancel(errSibling)
			}
			return nil
		})
	}
	_ = group.Wait()
	if ctx.Err() != nil {
		return nil, stopped(ctx)
	}
	return results, first(errs)
}

// first is the failure to return: that of the first call that was not cancelled
// for another's, or else all questions. The first of these is asked, and what the
// others remember is kept (see hitl.Memos).
func first(errs []error) error {
	var questions []error
	for _, err := range errs {
		switch {
		case err == nil || errors.Is(err, errSibling):
		case hitl.Find(err) == nil:
			return err
		default:
			questions = append(questions, err)
		}
	}
	return errors.Join(questions...)
}

func (l *Loop) callOne(ctx context.Context, c Call) (CallResult, error) {
	res := CallResult{CallID: c.ID, Name: c.Name}
	t, known := l.tools[c.Name]
	if !known {
		res.Output = Output{Text: l.unknown(c.Name), IsError: true}
		return res, nil
	}
	var err error
	res.Output, err = t.Call(ctx, c.Args)
	return res, err
}

func (l *Loop) unknown(name string) string {
	text := fmt.Sprintf("There is no tool '%s'.", cutRune(line(name), maxName))
	if l.names == "" {
		return text
	}
	return text + " The tools are: " + l.names
}
