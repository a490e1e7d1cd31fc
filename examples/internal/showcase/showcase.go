// Package showcase is an agent that shows every situation a client can meet,
// chosen by the text of the message: "ok", "stream 3", "error http-429" …
// The programs examples/showcase and examples/tour run it.
package showcase

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

//go:embed errors.yaml
var catalogue embed.FS

// Option changes how [New] makes the agent.
type Option func(*settings)

type settings struct {
	self   *Self
	store  flow.Store
	onNode func(task, node string)
}

// Calls tells the rows "remote …" whom to call. Default: they are unknown
// scenarios.
func Calls(self *Self) Option { return func(s *settings) { s.self = self } }

// Flows keeps the runs of the rows "flow …" in a store, from which they go on
// when the process has died, and tells onNode of each run of a node. Default:
// they are kept in memory.
func Flows(store flow.Store, onNode func(task, node string)) Option {
	return func(s *settings) { s.store, s.onNode = store, onNode }
}

// New makes the agent. It has both an Invoke and a Stream function. The error
// tells what is wrong with its flows and its catalogue.
func New(opts ...Option) (*agent.Agent, error) {
	set := settings{self: &Self{}}
	for _, o := range opts {
		o(&set)
	}
	flows, err := newFlows(set.store, set.onNode)
	if err != nil {
		return nil, err
	}
	codes, err := catalog.Load(catalogue, "errors.yaml")
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		code, isDomain := strings.CutPrefix(req.Text(), "domain ")
		switch {
		case isFlow(req):
			return flows.run(ctx, req, w)
		case isRemote(req):
			return set.self.run(ctx, req, w)
		case isDomain:
			raise := codes.For(catalog.AcceptLanguage(req.AcceptLanguage())...)
			return nil, raise.Error(catalog.Key(strings.TrimSpace(code)))
		case req.Text() == earlyFail && req.Streaming():
			return nil, kinds["invoke"](ctx)
		}
		return answer(ctx, req, w)
	}
	return agent.New("showcase",
		agent.Description("Shows every way in which an agent can answer, chosen by the message's text."),
		agent.Invoke(invoke(run)), agent.Stream(run), flows.recovery(),
		agent.OnRelease(flows.release)), nil
}

// invoke answers in one go as the other function does in a stream, but for the
// row that shows how one stands in for the other.
func invoke(f agent.StreamFunc) agent.InvokeFunc {
	return func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
		if req.Text() == earlyFail {
			return agent.Text("from invoke"), nil
		}
		w, _ := stream.FromContext(ctx)
		return f(ctx, req, w)
	}
}

// earlyFail is the one row that depends on how the agent is called: its Stream
// fails before the first chunk, its Invoke does not.
const earlyFail = "stream-early-fail"

// scenario is one row of the showcase; arg is what follows its name.
type scenario func(ctx context.Context, arg string, w *stream.Writer) (*agent.Result, error)

var scenarios = map[string]scenario{
	"ok":          ok,
	"stream":      streamN,
	"error":       fail,
	"app":         app,
	"bad-data":    badData,
	"stream-fail": streamFail,

	"stream-guardrail": streamGuardrail,
	"ask":              ask,
	"auth":             auth,
	"slow":             slow,
	"deaf":             deaf,
	"empty":            empty,
	"tool":             tools,
}

func answer(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	if _, asked := req.Question(); asked {
		return agent.Text("you said: " + req.Text()), nil
	}
	name, arg, _ := strings.Cut(strings.TrimSpace(req.Text()), " ")
	run, known := scenarios[name]
	if !known {
		return nil, unknown(req.Text())
	}
	return run(ctx, strings.TrimSpace(arg), w)
}

func unknown(text string) error {
	return errcode.New(errcode.InvalidInput, "unknown_scenario",
		errcode.Message(fmt.Sprintf("There is no scenario %q here.", text)))
}

func ok(context.Context, string, *stream.Writer) (*agent.Result, error) {
	return agent.Text("ok"), nil
}

func empty(context.Context, string, *stream.Writer) (*agent.Result, error) {
	res := agent.Data(map[string]any{"found": 0})
	res.Note = "Nothing matches."
	return res, nil
}

func ask(context.Context, string, *stream.Writer) (*agent.Result, error) {
	return nil, hitl.InputRequired("What is your name?", hitl.Payload(map[string]any{"field": "name"}))
}

func auth(context.Context, string, *stream.Writer) (*agent.Result, error) {
	return nil, hitl.AuthRequired("Please sign in to your bank.",
		hitl.Auth("oauth2", "accounts.read"), hitl.AuthURL("https://login.bank.example/authorize"), hitl.AuthProvider("bank"))
}

// slow works for some seconds, tells how far it is, and obeys a cancel.
func slow(ctx context.Context, arg string, w *stream.Writer) (*agent.Result, error) {
	seconds, err := strconv.ParseFloat(arg, 64)
	if err != nil || seconds < 0 || seconds > 600 {
		return nil, unknown("slow " + arg)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer end.Stop()
	for n := 1; ; n++ {
		select {
		case <-end.C:
			return agent.Text("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
			if err := w.Progress(fmt.Sprintf("%.1f s of %s s", float64(n)/10, arg)); err != nil {
				return nil, err
			}
		}
	}
}

// deaf sleeps for some seconds, whatever its context says.
func deaf(_ context.Context, arg string, _ *stream.Writer) (*agent.Result, error) {
	seconds, err := strconv.ParseFloat(arg, 64)
	if err != nil || seconds < 0 || seconds > 600 {
		return nil, unknown("deaf " + arg)
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	return agent.Text("done"), nil
}

func app(context.Context, string, *stream.Writer) (*agent.Result, error) {
	return nil, errcode.New(errcode.RateLimited, "classifier_quota_exceeded",
		errcode.Message("The classifier's daily quota is used up."),
		errcode.RetryAfter(time.Minute),
		errcode.Source("llm:gpt/classify"),
		errcode.Domain("subject-management"))
}

// badData breaks every rule of the wire data at once.
func badData(context.Context, string, *stream.Writer) (*agent.Result, error) {
	return nil, errcode.New("NO_SUCH_CODE", "",
		errcode.Message("a message that must not be sent"),
		errcode.Source("nonsense"),
		errcode.Domain("Not Kebab"),
		errcode.RetryAfter(-1))
}

func streamN(ctx context.Context, arg string, w *stream.Writer) (*agent.Result, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return nil, unknown("stream " + arg)
	}
	return nil, writeChunks(ctx, n, w)
}

func streamFail(ctx context.Context, arg string, w *stream.Writer) (*agent.Result, error) {
	if _, err := streamN(ctx, arg, w); err != nil {
		return nil, err
	}
	return nil, kinds["invoke"](ctx)
}

func streamGuardrail(ctx context.Context, arg string, w *stream.Writer) (*agent.Result, error) {
	if _, err := streamN(ctx, arg, w); err != nil {
		return nil, err
	}
	return nil, kinds["guardrail"](ctx)
}

func writeChunks(ctx context.Context, n int, w *stream.Writer) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Text(fmt.Sprintf("chunk-%d ", i+1)); err != nil {
			return err
		}
	}
	return nil
}
