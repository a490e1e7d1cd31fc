package anthropicmodel_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/internal/modeltest"
	"github.com/a2aexec/a2aexec/stream"
)

type nobody struct{}

func (nobody) Chunk(stream.Chunk) error { return nil }
func (nobody) Progress(string) error    { return nil }

// TestBrokenArgumentsCallNothing: arguments that the model did not finish are not
// taken for none; the model is told, and the tool is not called.
func TestBrokenArgumentsCallNothing(t *testing.T) {
	t.Parallel()
	const call = `{"type":"tool_use","id":"toolu_1","name":"delete","input":{}}`
	done := events(start, begin(0, `{"type":"text","text":""}`), textDelta(0, "Hello."), stop(0), reason("end_turn"), end)
	streamed := func(why string, parts ...string) http.HandlerFunc {
		all := []string{start, begin(0, call)}
		for _, p := range parts {
			all = append(all, jsonDelta(0, p))
		}
		return events(append(all, stop(0), reason(why), end)...)
	}
	for name, tc := range map[string]struct {
		first  http.HandlerFunc
		whole  bool
		called int
	}{
		"cut off":                {first: streamed("max_tokens", `{"only":"old`, ` fi`)},
		"broken":                 {first: streamed("tool_use", `{"only":"old fi`)},
		"cut off before any":     {first: streamed("max_tokens")},
		"no room for the window": {first: streamed("model_context_window_exceeded")},
		"closed by the vendor":   {first: modeltest.Answer(200, said(strings.Replace(call, "{}", `{"only":"old fi"}`, 1), "max_tokens")), whole: true},
		"none, by the vendor":    {first: modeltest.Answer(200, said(call, "max_tokens")), whole: true},
		"none asked for":         {first: streamed("tool_use"), called: 1},
		"whole before the limit": {first: streamed("max_tokens", `{"only":"a"}`), called: 1},
		"whole and not a stream": {first: modeltest.Answer(200, said(call, "tool_use")), whole: true, called: 1},
		"one of several was whole": {first: events(start, begin(0, call), jsonDelta(0, `{}`), stop(0),
			begin(1, strings.Replace(call, "_1", "_2", 1)), jsonDelta(1, `{"on`), stop(1), reason("max_tokens"), end), called: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := done
			if tc.whole {
				second = modeltest.Answer(200, said(hello, "end_turn"))
			}
			v := serve(t, tc.first, second)
			called := 0
			del := tool.Func("delete", "", func(context.Context, struct {
				Only string `json:"only,omitempty"`
			},
			) (string, error) {
				called++
				return "deleted", nil
			})
			l, err := tool.NewLoop(v, []tool.Tool{del})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if w, _ := stream.New(nobody{}); !tc.whole {
				ctx = stream.NewContext(ctx, w)
			}
			a, err := l.Run(ctx, tool.UserText("delete old files"))
			if err != nil || called != tc.called || a.Text != "Hello." {
				t.Errorf("got %v, %v, tool called %d times, want %d", a, err, called, tc.called)
			}
		})
	}
}
