package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/stream"
)

// Handle is an agent.StreamFunc that stands in front of the remote agent: it
// sends the request's message and forwards the answer, whatever that is.
//
//	front := agent.New("front", agent.Stream(bank.Handle))
func (a *Agent) Handle(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	m := fromRequest(req)
	c := a.newCall(ctx, m, []CallOption{Key("remote/" + a.identity()), {func(c *call) { c.reply = m.Parts }}})
	answer, err := c.run(ctx, w)
	return answer.Result(), err
}

// Tool makes the agent a function of a text: one that holds a JSON object or
// array is sent as data. The answer is [Answer.Text]; a remote that declines is
// INTERNAL_ERROR, reason remote_task_rejected, with its words. The same input
// twice in one run is two calls.
func (a *Agent) Tool(opts ...CallOption) func(ctx context.Context, input string) (string, error) {
	return func(ctx context.Context, input string) (string, error) {
		return a.text(ctx, toolMessage(input), opts)
	}
}

func toolMessage(input string) Message {
	trimmed := strings.TrimSpace(input)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		var v any
		if json.Unmarshal([]byte(trimmed), &v) == nil {
			return Data(v)
		}
	}
	return Text(input)
}

// Node makes the agent a flow's node: say makes the message of the state, the
// output is [Answer.Text]. A remote that declines is an error as of
// [Agent.Tool]. For another
// output, or one that is streamed, call the agent in a function of your own.
func Node[S any](a *Agent, say func(S) Message, opts ...CallOption) flow.Func[S, string] {
	return func(ctx context.Context, s S) (string, error) { return a.text(ctx, say(s), opts) }
}

// text is Call for those who need a text or an error.
func (a *Agent) text(ctx context.Context, m Message, opts []CallOption) (string, error) {
	answer, err := a.Call(ctx, m, opts...)
	if err == nil && answer.Rejected {
		err = errcode.New(errcode.Internal, "remote_task_rejected",
			errcode.Message(cmp.Or(answer.Note, "The agent declined the task.")), errcode.Source(a.Source()))
	}
	return answer.Text(), err
}
