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
// the calls. Those that had finished before a question are not called again.
func (r *run) callAll(ctx context.Context, calls []Call) ([]CallResult, error) {
	round, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]CallResult, len(calls))
	errs := make([]error, len(calls))
	var group errgroup.Group
	group.SetLimit(r.parallel)
	for i, c := range calls {
		if res, ok := r.finished[i]; ok {
			results[i] = res
			continue
		}
		one := context.WithValue(round, numberKey{}, r.numberOf(calls, i))
		group.Go(func() error {
			results[i], errs[i] = r.callOne(one, c)
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
	r.finished = map[int]CallResult{}
	for i, res := range results {
		if errs[i] == nil {
			r.finished[i] = res
		}
	}
	err := first(errs)
	if err == nil {
		r.finished = nil
	}
	return results, err
}

// numberOf tells which of equal calls of the conversation it is.
func (r *run) numberOf(calls []Call, i int) int {
	n := 1
	equal := func(c Call) bool { return c.Name == calls[i].Name && string(c.Args) == string(calls[i].Args) }
	for _, c := range calls[:i] {
		if equal(c) {
			n++
		}
	}
	for _, m := range r.answer.Messages[:max(0, len(r.answer.Messages)-1)] {
		for _, c := range m.Calls {
			if equal(c) {
				n++
			}
		}
	}
	return n
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
