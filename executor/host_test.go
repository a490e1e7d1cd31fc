package executor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// These tests say what the bare host does that this package corrects. One that
// fails after an upgrade of the host shows what has become unnecessary.

type bareExecutor func(context.Context, *a2asrv.ExecutorContext, func(a2a.Event, error) bool)

func (f bareExecutor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { f(ctx, ec, yield) }
}

func (bareExecutor) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}

func bare(t *testing.T, f bareExecutor) (context.Context, a2asrv.RequestHandler) {
	t.Helper()
	return call(t), a2asrv.NewHandler(f, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
}

func TestHostRefusesAMessageToAFinishedTaskWrongly(t *testing.T) {
	t.Parallel()
	ctx, h := bare(t, func(_ context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		_ = yield(a2a.NewSubmittedTask(ec, ec.Message), nil) && yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	})
	res, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		t.Fatal(err)
	}
	again := userMessage("y")
	again.Message.TaskID = res.TaskInfo().TaskID
	if _, err := h.SendMessage(ctx, again); !errors.Is(err, a2a.ErrInvalidParams) {
		t.Errorf("the host now answers %v: protocol.correct may be unnecessary", err)
	}
}

func TestHostSendsRawTextOfAnEarlyError(t *testing.T) {
	t.Parallel()
	ctx, h := bare(t, func(_ context.Context, _ *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		yield(nil, errors.New("password=hunter2"))
	})
	if _, err := h.SendMessage(ctx, userMessage("x")); err == nil || !strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the host now answers %v: clean may be unnecessary", err)
	}
}

func TestHostLosesArtifactsBeforeAnError(t *testing.T) {
	t.Parallel()
	ctx, h := bare(t, func(_ context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		if !yield(a2a.NewSubmittedTask(ec, ec.Message), nil) {
			return
		}
		for i := range 50 {
			if !yield(a2a.NewArtifactEvent(ec, a2a.NewTextPart(fmt.Sprint(i))), nil) {
				return
			}
		}
		yield(nil, errors.New("at the end"))
	})
	res, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		return // not even the task was kept
	}
	task, ok := res.(*a2a.Task)
	if ok && len(task.Artifacts) == 50 && task.Status.Message != nil {
		t.Error("the host now keeps the artifacts before an error, and says why it failed")
	}
}

func TestHostStoresAnEmptyArrayAsNull(t *testing.T) {
	t.Parallel()
	ctx, h := bare(t, func(_ context.Context, ec *a2asrv.ExecutorContext, yield func(a2a.Event, error) bool) {
		_ = yield(a2a.NewSubmittedTask(ec, ec.Message), nil) &&
			yield(a2a.NewArtifactEvent(ec, a2a.NewDataPart(map[string]any{"hits": []any{}})), nil) &&
			yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	})
	res, err := h.SendMessage(ctx, userMessage("x"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: res.TaskInfo().TaskID})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%#v", task.Artifacts[0].Parts[0].Data()); !strings.Contains(got, "[]interface {}(nil)") {
		t.Errorf("the host now stores %s: restoreEmpty may be unnecessary", got)
	}
}
