package flow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
)

// TestToleratedFailureKeepsItsClass: after a resume it is what it was to clients.
func TestToleratedFailureKeepsItsClass(t *testing.T) {
	t.Parallel()
	busy := errors.New("driver: busy")
	table := errcode.NewTable(errcode.When("busy", func(err error) bool { return errors.Is(err, busy) },
		errcode.RateLimited, "bank_busy", errcode.RetryAfter(3*time.Second)))
	causes := map[string]error{
		"by a rule": busy,
		"deliberate": errcode.New(errcode.GuardrailBlocked, "pii", errcode.Message("No."),
			errcode.Guardrail("pii", map[string]any{"rule": "ssn"}), errcode.Source("guardrail:pii")),
		"by a row":   &errcode.ComponentInvokeError{Component: "rag", Err: errBoom},
		"violations": errcode.New(errcode.InvalidInput, "bad", errcode.Violations(errcode.Violation{Field: "/n", Expected: "a number"})),
	}
	for name, cause := range causes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab("f")
			bad := l.node("bad", func(context.Context, trail) error { return cause }, flow.Retry(2), flow.Backoff(0, 0))
			ask := l.node("ask", func(ctx context.Context, _ trail) error {
				_, err := hitl.Ask[string](ctx, "q", "Q?")
				return err
			})
			again := l.node("again", func(ctx context.Context, _ trail) error {
				_, err := hitl.Ask[string](ctx, "q", "Q?")
				return err
			})
			l.Edge(flow.START, bad, ask)
			l.ContinueOnError(flow.START)
			l.Edge(bad, flow.END)
			l.Edge(ask, again)
			l.Edge(again, flow.END)
			c := l.compile(t, flow.WithStore(flow.NewMemory()))
			ctx := errcode.WithTable(t.Context(), table)
			describe := func(err error) errcode.Data {
				d, buildErr := errcode.Builder{}.Data(table.Convert(err))
				if buildErr != nil {
					t.Error(buildErr)
				}
				d.Node, d.Flow = nil, nil
				return d
			}
			want := describe(cause)
			res := must(c.Run(ctx, "r", trail{}))(t)
			for range 2 { // first it is in the frontier, then among the failures
				res = must(c.Resume(ctx, "r", flow.Answer(res.Asks()[0].ID(), "x")))(t)
				f := res.Failures()
				if len(f) != 1 || f[0].Node != "bad" || f[0].Kind != "kind-bad" || f[0].Visit != 1 || f[0].Step != 1 || f[0].Attempt < 1 {
					t.Fatalf("got %+v", f)
				}
				if diff := cmp.Diff(want, describe(f[0])); diff != "" {
					t.Errorf("class (-before +after):\n%s", diff)
				}
				var e *errcode.Error
				if !errors.As(f[0], &e) || f[0].Err.Error() != cause.Error() {
					t.Errorf("the text is another: %v", f[0])
				}
			}
			if diff := cmp.Diff([]string{"ask", "again"}, res.State.Path); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAQuestionForCredentialsStaysOne: also when the run was resumed meanwhile.
func TestAQuestionForCredentialsStaysOne(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	login := l.node("login", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "token", "Log in.", hitl.Auth("oauth2", "read"), hitl.AuthURL("https://id.example"))
		return err
	})
	ask := l.node("ask", func(ctx context.Context, _ trail) error {
		_, err := hitl.Ask[string](ctx, "q", "Q?")
		return err
	})
	l.Edge(flow.START, login, ask)
	l.Edge(login, flow.END)
	l.Edge(ask, flow.END)
	c := l.compile(t, flow.WithStore(flow.NewMemory()))
	first := must(c.Run(t.Context(), "r", trail{}))(t).Asks()[0]
	res := must(c.Resume(t.Context(), "r", flow.Answer("r/ask/1/q", "x")))(t)
	got := res.Asks()[0]
	if !first.Auth() || !got.Auth() || got.Schema() != hitl.SchemaAuth {
		t.Errorf("auth: before %t, after %t", first.Auth(), got.Auth())
	}
	if diff := cmp.Diff(first.Data(), got.Data()); diff != "" {
		t.Errorf("data (-before +after):\n%s", diff)
	}
}
