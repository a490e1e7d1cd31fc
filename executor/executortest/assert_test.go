package executortest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
)

// failedWith is a failed task with that data and the text for people.
func failedWith(d errcode.Data) *executortest.Got {
	return ended(a2a.TaskStateFailed, a2a.NewTextPart(d.ErrorMessage), dataPart(errcode.Schema, d.Map()))
}

func failure() errcode.Data {
	after := int64(1500)
	return errcode.Data{
		ErrorCode: errcode.UpstreamUnavailable, ErrorReason: "bank_down", ErrorMessage: "The bank is closed.",
		Retriable: true, Retried: 2, RetryAfterMs: &after,
		ErrorSource: "http:bank", Domain: "bank-teller", DomainCode: "B-17",
	}
}

func TestAssertState(t *testing.T) {
	t.Parallel()
	completed, rejected, none := ended(a2a.TaskStateCompleted), ended(a2a.TaskStateRejected), &executortest.Got{}
	failed := failedWith(failure())
	cases := []struct {
		name   string
		assert func(executortest.TB)
		says   []string // what the error says; none: it holds
	}{
		{"state holds", func(tb executortest.TB) { completed.AssertState(tb, a2a.TaskStateCompleted) }, nil},
		{"state differs", func(tb executortest.TB) { completed.AssertState(tb, a2a.TaskStateFailed) }, []string{"got TASK_STATE_COMPLETED", "want TASK_STATE_FAILED"}},
		{"no task", func(tb executortest.TB) { none.AssertState(tb, a2a.TaskStateFailed) }, []string{"got TASK_STATE_UNSPECIFIED", "want TASK_STATE_FAILED"}},
		{"completed holds", completed.AssertCompleted, nil},
		{"completed differs", rejected.AssertCompleted, []string{"got TASK_STATE_REJECTED", "want TASK_STATE_COMPLETED"}},
		{
			"the error says what the task failed with", failed.AssertCompleted,
			[]string{"got TASK_STATE_FAILED", "want TASK_STATE_COMPLETED", "UPSTREAM_UNAVAILABLE", "bank_down", "The bank is closed."},
		},
		{"rejected holds", rejected.AssertRejected, nil},
		{"rejected differs", completed.AssertRejected, []string{"got TASK_STATE_COMPLETED", "want TASK_STATE_REJECTED"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			tc.assert(&f)
			f.wantErrors(t, min(1, len(tc.says)), tc.says...)
		})
	}
}

func TestAssertText(t *testing.T) {
	t.Parallel()
	got := ended(a2a.TaskStateCompleted)
	got.Task.Artifacts = []*a2a.Artifact{
		{ID: "1", Parts: a2a.ContentParts{a2a.NewTextPart("a"), a2a.NewDataPart("x"), a2a.NewTextPart("b")}},
		{ID: "2", Parts: a2a.ContentParts{a2a.NewTextPart("c")}},
	}
	for _, tc := range []struct {
		name string
		got  *executortest.Got
		want string
		says []string
	}{
		{"holds", got, "abc", nil},
		{"differs", got, "abd", []string{`got "abc"`, `want "abd"`}},
		{"no artifacts", ended(a2a.TaskStateCompleted), "", nil},
		{"no task", &executortest.Got{}, "a", []string{`got ""`, `want "a"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			tc.got.AssertText(&f, tc.want)
			f.wantErrors(t, min(1, len(tc.says)), tc.says...)
		})
	}
}

func TestAssertInputRequired(t *testing.T) {
	t.Parallel()
	data := map[string]any{"question": "Q?", "format": "YYYY"}
	asked := a2a.TaskStateInputRequired
	for _, tc := range []struct {
		name   string
		got    *executortest.Got
		errors int
		says   []string
		data   map[string]any
	}{
		{"holds", ended(asked, a2a.NewTextPart("Q?"), dataPart(hitl.Schema, data)), 0, nil, data},
		{"another state", ended(a2a.TaskStateAuthRequired, a2a.NewTextPart("Q?"), dataPart(hitl.Schema, data)), 1, []string{"got TASK_STATE_AUTH_REQUIRED", "want TASK_STATE_INPUT_REQUIRED"}, data},
		{"another question", ended(asked, a2a.NewTextPart("Why?"), dataPart(hitl.Schema, data)), 1, []string{`got "Why?"`, `want "Q?"`}, data},
		{"no text", ended(asked, dataPart(hitl.Schema, data)), 1, []string{`got ""`, `want "Q?"`}, data},
		{"no data", ended(asked, a2a.NewTextPart("Q?")), 1, []string{"no data part", hitl.Schema}, nil},
		{"data without a schema", ended(asked, a2a.NewTextPart("Q?"), a2a.NewDataPart(data)), 1, []string{"no data part"}, nil},
		{"no message", ended(asked), 2, []string{"question"}, nil},
		{"no task", &executortest.Got{}, 3, []string{"TASK_STATE_UNSPECIFIED"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			got := tc.got.AssertInputRequired(&f, "Q?")
			f.wantErrors(t, tc.errors, tc.says...)
			if diff := cmp.Diff(tc.data, got); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAssertFailed(t *testing.T) {
	t.Parallel()
	d := failure()
	invalid := d.Map()
	delete(invalid, "errorReason")
	for _, tc := range []struct {
		name   string
		got    *executortest.Got
		errors int
		says   []string
	}{
		{"holds", failedWith(d), 0, nil},
		{"no task", &executortest.Got{}, 1, []string{"TASK_STATE_UNSPECIFIED"}},
		{"completed", ended(a2a.TaskStateCompleted), 1, []string{"got TASK_STATE_COMPLETED", "want TASK_STATE_FAILED"}},
		{"no data", ended(a2a.TaskStateFailed, a2a.NewTextPart("x")), 1, []string{"no data part", errcode.Schema}},
		{"data of another schema", ended(a2a.TaskStateFailed, a2a.NewTextPart(d.ErrorMessage), dataPart(hitl.Schema, d.Map())), 1, []string{"no data part"}},
		{"invalid data", ended(a2a.TaskStateFailed, a2a.NewTextPart(d.ErrorMessage), dataPart(errcode.Schema, invalid)), 1, []string{"invalid", "errorReason"}},
		{"no text for people", ended(a2a.TaskStateFailed, dataPart(errcode.Schema, d.Map())), 1, []string{`got ""`, `"The bank is closed."`}},
		{"another text", ended(a2a.TaskStateFailed, a2a.NewTextPart("raw"), dataPart(errcode.Schema, d.Map())), 1, []string{`got "raw"`, `"The bank is closed."`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			tc.got.AssertFailed(&f, errcode.UpstreamUnavailable)
			f.wantErrors(t, tc.errors, tc.says...)
		})
	}
}

func TestAssertFailedWithAnotherCode(t *testing.T) {
	t.Parallel()
	var f fakeT
	e := failedWith(failure()).AssertFailed(&f, errcode.NotFound)
	f.wantErrors(t, 1, "got UPSTREAM_UNAVAILABLE", "want NOT_FOUND", "bank_down", "The bank is closed.")
	if e.ErrorCode != errcode.UpstreamUnavailable || e.ErrorReason != "bank_down" {
		t.Errorf("failure: got %v", e)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	full, bare := failure(), errcode.Data{ErrorCode: errcode.UpstreamUnavailable, ErrorReason: "r", ErrorMessage: "m"}
	cases := []struct {
		name  string
		data  errcode.Data
		check executortest.Check
		says  []string
	}{
		{"reason holds", full, executortest.Reason("bank_down"), nil},
		{"reason differs", full, executortest.Reason("x"), []string{"errorReason", `got "bank_down"`, `want "x"`}},
		{"text holds", full, executortest.Text("The bank is closed."), nil},
		{"text is compared whole", full, executortest.Text("The bank"), []string{"errorMessage", `got "The bank is closed."`, `want "The bank"`}},
		{"retriable holds", full, executortest.Retriable(true), nil},
		{"retriable differs", full, executortest.Retriable(false), []string{"retriable", "got true", "want false"}},
		{"retry after holds", full, executortest.RetryAfter(1500 * time.Millisecond), nil},
		{"retry after differs", full, executortest.RetryAfter(time.Second), []string{"retryAfterMs", "got 1500", "want 1000"}},
		{"retry after where none is wanted", full, executortest.RetryAfter(-1), []string{"got 1500", "want absent"}},
		{"retry after is absent", bare, executortest.RetryAfter(-1), nil},
		{"retry after is missing", bare, executortest.RetryAfter(0), []string{"got absent", "want 0"}},
		{"retried holds", full, executortest.Retried(2), nil},
		{"retried differs", full, executortest.Retried(0), []string{"retried", "got 2", "want 0"}},
		{"source holds", full, executortest.Source("http:bank"), nil},
		{"source differs", full, executortest.Source("db:bank"), []string{"errorSource", `got "http:bank"`, `want "db:bank"`}},
		{"no source is seen as such", bare, executortest.Source("db:bank"), []string{"errorSource", `got ""`, `want "db:bank"`}},
		{"domain holds", full, executortest.Domain("bank-teller"), nil},
		{"domain differs", full, executortest.Domain("x"), []string{"domain", `got "bank-teller"`, `want "x"`}},
		{"domain code holds", full, executortest.DomainCode("B-17"), nil},
		{"domain code differs", full, executortest.DomainCode("B-18"), []string{"domainCode", `got "B-17"`, `want "B-18"`}},
		{"zero check", full, executortest.Check{}, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			failedWith(tc.data).AssertFailed(&f, errcode.UpstreamUnavailable, tc.check)
			f.wantErrors(t, min(1, len(tc.says)), tc.says...)
		})
	}
}

func TestEveryFailedCheckIsReported(t *testing.T) {
	t.Parallel()
	var f fakeT
	failedWith(failure()).AssertFailed(&f, errcode.NotFound,
		executortest.Reason("x"), executortest.Retriable(true), executortest.Retried(9))
	f.wantErrors(t, 3, "errorCode")
}

func TestReadingWhatAClientSaw(t *testing.T) {
	t.Parallel()
	none := &executortest.Got{}
	if none.State() != a2a.TaskStateUnspecified || none.Text() != "" || none.Note() != "" {
		t.Errorf("no task: got %v %q %q", none.State(), none.Text(), none.Note())
	}
	for name, got := range map[string]*executortest.Got{"no task": none, "completed": ended(a2a.TaskStateCompleted)} {
		if e, ok := got.Failure(); ok {
			t.Errorf("%s: got the failure %v", name, e)
		}
	}
	noted := ended(a2a.TaskStateCompleted, a2a.NewTextPart("a"), a2a.NewDataPart("x"), a2a.NewTextPart(""), a2a.NewTextPart("b"))
	if got := noted.Note(); got != "a\nb" {
		t.Errorf("note: got %q", got)
	}
	if e, ok := failedWith(failure()).Failure(); !ok || e.Reason() != "bank_down" {
		t.Errorf("failure: got %v, %v", e, ok)
	}
}

// TestFailureShowsItsPrivateCause: a test's output may tell what no client sees.
func TestFailureShowsItsPrivateCause(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code func(context.Context, *agent.Request) (*agent.Result, error)
		says string
	}{
		"a cause": {func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, errcode.New(errcode.NotFound, "x", errcode.Cause(errors.New("row 17 is gone")))
		}, "row 17 is gone"},
		"a panic": {func(context.Context, *agent.Request) (*agent.Result, error) { panic("slice of doom") }, "slice of doom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fakeT
			executortest.Run(t, agent.New("a", agent.Invoke(tc.code)), "x").AssertText(&f, "fine")
			f.wantErrors(t, 1, tc.says)
		})
	}
}
