package agent

import (
	"context"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
)

// failureOf classifies a flow's error with the server's table, to add how often
// its nodes were retried.
func failureOf(ctx context.Context, err error, retries int) error {
	if retries == 0 {
		return err
	}
	e := errcode.TableFrom(ctx).Convert(err)
	if retries <= e.Retried() {
		return err
	}
	return e.With(errcode.Retried(retries))
}

// unfinished is the failure of a flow whose nodes have all completed, unless
// finish names another flow.
func (f *FlowRunner[S]) unfinished(ctx context.Context, got flow.Result[S], err error) error {
	err = failureOf(ctx, err, got.Retries())
	e := errcode.TableFrom(ctx).Convert(err)
	if _, inFlow := e.Flow(); inFlow {
		return err
	}
	return e.With(errcode.InFlow(f.flow.Name(), got.Completed()...))
}
