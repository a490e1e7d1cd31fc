package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// A store may be out of reach for a while. Clients are told to come back, and no
// ending is made up for a task whose real one could not be stored: where tasks
// outlive the process, the run stops without one and is recovered when the store is back.

// errStoreAway is what clients are told.
var errStoreAway = refuse(errUnavailable, "The server's store is out of reach; try again later.").retryAfter(time.Second)

// away makes the error of a store that is out of reach one that says so to
// clients. Others are given back.
func away(ctx context.Context, err error) error {
	if ctx.Err() != nil || !passes(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errStoreAway, err)
}

// passes reports whether an error of a store comes from its being out of reach,
// not from what it was asked.
func passes(err error) bool {
	if err == nil || errors.Is(err, taskstore.ErrConcurrentModification) || errors.Is(err, a2a.ErrTaskNotFound) {
		return false
	}
	e := errcode.Default().Convert(err)
	return e.Retriable() && (e.Code() == errcode.UpstreamUnavailable || e.Code() == errcode.UpstreamTimeout)
}

// unstored is told of the error by which a task could not be written. A run that
// can be recovered stops then, for what is stored of it is not what it did.
func (x *agentExecutor) unstored(ctx context.Context, id a2a.TaskID, err error) {
	switch {
	case x.leases == nil:
	case errors.Is(err, taskstore.ErrConcurrentModification):
		x.overtaken(ctx, id)
	case passes(err):
		x.owe(id, true) // it may be stored all the same, and leased
		if r := x.find(id); r != nil && !r.rests() {
			x.lose(ctx, r, err)
		}
	}
}

// errInvented refuses an ending that the host makes up.
var errInvented = errors.New("the host fails a task that no run works on")

// invented reports whether the host fails a task because a cancel of it could
// not be stored. It has not failed: it is as it was.
func invented(r *run, t *a2a.Task) bool {
	return r == nil && t.Status.State == a2a.TaskStateFailed && t.Status.Message == nil && t.Status.Timestamp == nil
}

// interrupted reports whether a flow stopped because its store was out of
// reach. One that goes on with the runs of dead processes goes on with that one, too.
func (r *run) interrupted(err error) bool {
	if err == nil || r.leases == nil || r.agent.RecoverFunc() == nil {
		return false
	}
	if n, ok := errtree.As[*flow.NodeError](err); ok && n != nil {
		err = n.Err
	}
	s, ok := errtree.As[*flow.StoreError](err)
	return ok && s != nil && (s.Op == "save" || s.Op == "load") && passes(s)
}
