package executortest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ executortest.TB = testing.TB(nil)

// fakeT records what a test is told. Its Fatalf returns, as a real one's does not.
type fakeT struct {
	errors, fatals []string
}

func (f *fakeT) Helper() {}

func (f *fakeT) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.fatals = append(f.fatals, fmt.Sprintf(format, args...))
}

// wantErrors asserts that there are that many errors, the first of which says
// all of these, and nothing fatal.
func (f *fakeT) wantErrors(t *testing.T, n int, says ...string) {
	t.Helper()
	if len(f.errors) != n || len(f.fatals) != 0 {
		t.Errorf("got errors %q and fatals %q, want %d errors", f.errors, f.fatals, n)
		return
	}
	if n > 0 {
		wantText(t, f.errors[0], says...)
	}
}

// wantFatal asserts that exactly one fatal error was reported, which says all of these.
func (f *fakeT) wantFatal(t *testing.T, says ...string) {
	t.Helper()
	if len(f.fatals) != 1 || len(f.errors) != 0 {
		t.Errorf("got errors %q and fatals %q, want one fatal", f.errors, f.fatals)
		return
	}
	wantText(t, f.fatals[0], says...)
}

func wantText(t *testing.T, got string, says ...string) {
	t.Helper()
	for _, s := range says {
		if !strings.Contains(got, s) {
			t.Errorf("got %q, want it to say %q", got, s)
		}
	}
}

func invoking(f agent.InvokeFunc) *agent.Agent { return agent.New("tested agent", agent.Invoke(f)) }

func failing(err error) *agent.Agent {
	return invoking(func(context.Context, *agent.Request) (*agent.Result, error) { return nil, err })
}

func echo() *agent.Agent {
	return invoking(agent.TextFunc(func(_ context.Context, text string) (string, error) { return text, nil }))
}

// ended is a Got as of a run that ended so.
func ended(state a2a.TaskState, parts ...*a2a.Part) *executortest.Got {
	task := &a2a.Task{ID: "t", ContextID: "c", Status: a2a.TaskStatus{State: state}}
	if len(parts) > 0 {
		task.Status.Message = &a2a.Message{ID: "m", Role: a2a.MessageRoleAgent, Parts: parts}
	}
	return &executortest.Got{Task: task}
}

func dataPart(schema string, data map[string]any) *a2a.Part {
	p := a2a.NewDataPart(data)
	p.SetMeta("schema", schema)
	return p
}
