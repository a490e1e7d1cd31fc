package executortest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// State is the state the task is in.
func (g *Got) State() a2a.TaskState {
	if g.Task == nil {
		return a2a.TaskStateUnspecified
	}
	return g.Task.Status.State
}

// Text is the text parts of all artifacts of the stored task, put together.
func (g *Got) Text() string {
	var b strings.Builder
	if g.Task == nil {
		return ""
	}
	for _, a := range g.Task.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text())
		}
	}
	return b.String()
}

// Note is the text of the stored task's status message, "" without one.
func (g *Got) Note() string {
	if g.Task == nil || g.Task.Status.Message == nil {
		return ""
	}
	var texts []string
	for _, p := range g.Task.Status.Message.Parts {
		if t := p.Text(); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// Failure decodes the failed task's data part as a client would. It gives
// false when the task has not failed.
func (g *Got) Failure() (*errcode.Error, bool) { return errcode.FromTask(g.Task) }

// AssertState asserts the state of the stored task.
func (g *Got) AssertState(t TB, want a2a.TaskState) {
	t.Helper()
	if got := g.State(); got != want {
		t.Errorf("task state: got %s, want %s%s", got, want, g.hint())
	}
}

// AssertCompleted asserts that the task is completed.
func (g *Got) AssertCompleted(t TB) {
	t.Helper()
	g.AssertState(t, a2a.TaskStateCompleted)
}

// AssertRejected asserts that the agent declined the task.
func (g *Got) AssertRejected(t TB) {
	t.Helper()
	g.AssertState(t, a2a.TaskStateRejected)
}

// AssertText asserts the text of all artifacts together.
func (g *Got) AssertText(t TB, want string) {
	t.Helper()
	if got := g.Text(); got != want {
		t.Errorf("text of the artifacts: got %q, want %q%s", got, want, g.hint())
	}
}

// AssertInputRequired asserts that the task is parked with that question, as a
// text part and in a data part that names its schema. It returns the data.
func (g *Got) AssertInputRequired(t TB, prompt string) map[string]any {
	t.Helper()
	return g.assertParked(t, a2a.TaskStateInputRequired, prompt, hitl.Schema)
}

// AssertAuthRequired asserts that the task is parked for credentials, with that
// prompt as a text part and a data part that names its schema. It returns the
// data.
func (g *Got) AssertAuthRequired(t TB, prompt string) map[string]any {
	t.Helper()
	return g.assertParked(t, a2a.TaskStateAuthRequired, prompt, hitl.SchemaAuth)
}

func (g *Got) assertParked(t TB, state a2a.TaskState, prompt, schema string) map[string]any {
	t.Helper()
	g.AssertState(t, state)
	if got := g.Note(); got != prompt {
		t.Errorf("question: got %q, want %q", got, prompt)
	}
	if data, ok := g.dataPart(schema); ok {
		return data
	}
	t.Errorf("question: no data part of schema %s", schema)
	return nil
}

// AssertFailed asserts that the task has failed with that code, that its data
// part is there and valid, that it has a text part for people, and whatever
// the checks say. It returns the data for further checks, the zero Data where
// there is none; [Got.Failure] gives it as an error.
func (g *Got) AssertFailed(t TB, code errcode.Code, checks ...Check) errcode.Data {
	t.Helper()
	if g.AssertState(t, a2a.TaskStateFailed); g.State() != a2a.TaskStateFailed {
		return errcode.Data{}
	}
	raw, ok := g.dataPart(errcode.Schema)
	if !ok {
		t.Errorf("failed task: no data part of schema %s in the status message", errcode.Schema)
		return errcode.Data{}
	}
	data, err := errcode.ParseData(raw)
	if err != nil {
		t.Errorf("failed task: the data part is invalid: %v", err)
		return errcode.Data{}
	}
	if data.ErrorCode != code {
		t.Errorf("errorCode: got %s, want %s%s", data.ErrorCode, code, g.hint())
	}
	if note := g.Note(); note != data.ErrorMessage {
		t.Errorf("text part: got %q, want the errorMessage %q", note, data.ErrorMessage)
	}
	for _, c := range checks {
		if c.look == nil {
			continue
		}
		if got, want := c.look(data); got != want {
			t.Errorf("%s: got %s, want %s", c.field, got, want)
		}
	}
	return data
}

// hint tells a reader of the test's output what the task failed with, the
// private cause included.
func (g *Got) hint() string {
	e, ok := g.Failure()
	if !ok {
		return ""
	}
	hint := fmt.Sprintf(" (failed with %s %s: %s)", e.Code(), e.Reason(), e.Message())
	for _, text := range errtree.Causes(g.Outcome.Err) {
		if !strings.Contains(hint, text) {
			hint += "\n\tcause: " + text
		}
	}
	if p, ok := errtree.As[*errcode.PanicError](g.Outcome.Err); ok && p != nil {
		hint += fmt.Sprintf("\n\tpanic: %v\n%s", p.Value(), p.Stack())
	}
	return hint
}

func (g *Got) dataPart(schema string) (map[string]any, bool) {
	if g.Task == nil || g.Task.Status.Message == nil {
		return nil, false
	}
	for _, p := range g.Task.Status.Message.Parts {
		if m, ok := p.Data().(map[string]any); ok && p.Meta()["schema"] == schema {
			return m, true
		}
	}
	return nil, false
}

// Check looks at one field of a failed task's data part.
type Check struct {
	field string
	look  func(errcode.Data) (got, want string)
}

func checkText(field, want string, look func(errcode.Data) string) Check {
	return Check{field, func(d errcode.Data) (string, string) { return strconv.Quote(look(d)), strconv.Quote(want) }}
}

// Reason checks errorReason.
func Reason(want string) Check {
	return checkText("errorReason", want, func(d errcode.Data) string { return d.ErrorReason })
}

// Text checks errorMessage, whole.
func Text(want string) Check {
	return checkText("errorMessage", want, func(d errcode.Data) string { return d.ErrorMessage })
}

// Retriable checks retriable.
func Retriable(want bool) Check {
	return Check{"retriable", func(d errcode.Data) (string, string) { return fmt.Sprint(d.Retriable), fmt.Sprint(want) }}
}

// RetryAfter checks retryAfterMs; a negative duration says that it is absent.
func RetryAfter(want time.Duration) Check {
	return Check{"retryAfterMs", func(d errcode.Data) (string, string) {
		got, expected := "absent", "absent"
		if d.RetryAfterMs != nil {
			got = fmt.Sprint(*d.RetryAfterMs)
		}
		if want >= 0 {
			expected = fmt.Sprint(want.Milliseconds())
		}
		return got, expected
	}}
}

// Retried checks retried.
func Retried(want int) Check {
	return Check{"retried", func(d errcode.Data) (string, string) { return fmt.Sprint(d.Retried), fmt.Sprint(want) }}
}

// Source checks errorSource.
func Source(want string) Check {
	return checkText("errorSource", want, func(d errcode.Data) string { return d.ErrorSource })
}

// Domain checks domain.
func Domain(want string) Check {
	return checkText("domain", want, func(d errcode.Data) string { return d.Domain })
}

// DomainCode checks domainCode.
func DomainCode(want string) Check {
	return checkText("domainCode", want, func(d errcode.Data) string { return d.DomainCode })
}
