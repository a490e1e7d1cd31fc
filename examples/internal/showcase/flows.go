package showcase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// loan is the state of the loan flow.
type loan struct {
	Task    string // the task's id
	Mode    string // what the message asked for
	Subject string
	Found   []string
	Answer  string
}

// flows are the showcase's flows.
type flows struct {
	loan   *agent.FlowRunner[loan]
	fanout *agent.FlowRunner[loan]

	durable bool
	runs    flow.Store // counts the runs of a task's node as checkpoints
	onNode  func(task, node string)
}

func newFlows(store flow.Store, onNode func(task, node string)) (*flows, error) {
	f := &flows{durable: store != nil, runs: store, onNode: onNode}
	var opts []agent.FlowOption
	if f.durable {
		opts = []agent.FlowOption{agent.FlowStore(store), agent.FlowRecover()}
	} else {
		f.runs = flow.NewMemory()
	}
	line, err := f.loanFlow().Compile()
	if err != nil {
		return nil, err
	}
	fan, err := f.fanoutFlow().Compile()
	if err != nil {
		return nil, err
	}
	var errLoan, errFan error
	f.loan, errLoan = agent.NewFlowRunner(line, f.begin, f.finish, opts...)
	f.fanout, errFan = agent.NewFlowRunner(fan, f.begin, f.finish, opts...)
	return f, errors.Join(errLoan, errFan)
}

// loanFlow is fetch_subject → rag_search → generate_response.
func (f *flows) loanFlow() *flow.Graph[loan] {
	g := flow.New[loan]("loan")
	fetch := flow.Node(g, "fetch_subject", "business", f.count("fetch_subject", func(context.Context, loan) (string, error) {
		return "loan 4711", nil
	}), func(s *loan, v string) { s.Subject = v })
	search := flow.Node(g, "rag_search", "business", f.count2(f.search), func(s *loan, v []string) { s.Found = v })
	generate := flow.Node(g, "generate_response", "llm", f.count("generate_response", f.generate), func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, fetch)
	g.Edge(fetch, search)
	g.Edge(search, generate)
	g.Edge(generate, flow.END)
	return g
}

// fanoutFlow is a, b and c side by side, and a join; b fails once a is done.
func (f *flows) fanoutFlow() *flow.Graph[loan] {
	g := flow.New[loan]("fanout")
	apply := func(s *loan, v string) { s.Found = append(s.Found, v) }
	aDone := flow.Node(g, "a", "business", func(context.Context, loan) (string, error) { return "from a", nil }, apply)
	b := flow.Node(g, "b", "business", func(ctx context.Context, _ loan) (string, error) { return "", kinds["invoke"](ctx) }, apply)
	c := flow.Node(g, "c", "business", func(ctx context.Context, _ loan) (string, error) {
		<-ctx.Done() // a sibling's failure cancels it
		return "", context.Cause(ctx)
	}, apply)
	join := flow.Node(g, "join", "business", func(_ context.Context, s loan) (string, error) {
		return strings.Join(s.Found, ", "), nil
	}, func(s *loan, v string) { s.Answer = v })
	g.Edge(flow.START, aDone, b, c)
	g.Join(join, aDone, b, c)
	g.Edge(join, flow.END)
	return g
}

// recovery goes on with a flow whose process died. Anything else ends as failed.
func (f *flows) recovery() agent.Option {
	if !f.durable {
		return agent.Option{}
	}
	return agent.Recover(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		switch {
		case !isFlow(req):
			return nil, agent.ErrProcessRestarted
		case modeOf(req) == "parallel-fail":
			return f.fanout.Recover(ctx, req, w)
		}
		return f.loan.Recover(ctx, req, w)
	})
}

func (f *flows) search(ctx context.Context, s loan) ([]string, error) {
	switch s.Mode {
	case "fail":
		return nil, kinds["invoke"](ctx)
	case "panic":
		return nil, kinds["panic"](ctx)
	case "guardrail":
		return nil, kinds["guardrail"](ctx)
	case "timeout":
		return nil, kinds["timeout"](ctx)
	}
	return []string{"terms of " + s.Subject}, nil
}

func (f *flows) generate(ctx context.Context, s loan) (string, error) {
	if s.Mode != "ask" {
		return "found " + strings.Join(s.Found, ", "), nil
	}
	return hitl.Ask[string](ctx, "amount", "What amount?")
}

// count makes a node that counts its runs.
func (f *flows) count(node string, fn flow.Func[loan, string]) flow.Func[loan, string] {
	return func(ctx context.Context, s loan) (string, error) {
		if err := f.ran(ctx, s, node); err != nil {
			return "", err
		}
		return fn(ctx, s)
	}
}

func (f *flows) count2(fn flow.Func[loan, []string]) flow.Func[loan, []string] {
	return func(ctx context.Context, s loan) ([]string, error) {
		if err := f.ran(ctx, s, "rag_search"); err != nil {
			return nil, err
		}
		return fn(ctx, s)
	}
}

// ran counts a run of a node, which takes its time in the mode "slow".
func (f *flows) ran(ctx context.Context, s loan, node string) error {
	if f.onNode != nil {
		f.onNode(s.Task, node)
	}
	n, err := f.counted(ctx, s.Task, node)
	if err != nil {
		return err
	}
	err = f.runs.Save(ctx, flow.Checkpoint{Run: counter(s.Task, node), Seq: n + 1, Keep: 1})
	if err != nil || s.Mode != "slow" {
		return err
	}
	t := time.NewTimer(100 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// counted tells how often a node ran.
func (f *flows) counted(ctx context.Context, task, node string) (uint64, error) {
	c, err := f.runs.Load(ctx, counter(task, node))
	if err != nil && !errors.Is(err, flow.ErrUnknownRun) {
		return 0, err
	}
	return c.Seq, nil
}

func counter(task, node string) string { return task + "/runs/" + node }

var counted = []string{"fetch_subject", "rag_search", "generate_response"}

func (f *flows) begin(_ context.Context, req *agent.Request) (loan, error) {
	return loan{Task: req.TaskID(), Mode: modeOf(req)}, nil
}

// finish answers with what the flow found or, where it asked, with how often
// each node ran.
func (f *flows) finish(ctx context.Context, s loan) (*agent.Result, error) {
	if s.Mode != "ask" {
		return agent.Text(s.Answer), nil
	}
	var text strings.Builder
	text.WriteString("runs:")
	for _, node := range counted {
		n, err := f.counted(ctx, s.Task, node)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, " %s=%d", node, n)
	}
	return agent.Text(text.String()), nil
}

// run is the row "flow MODE".
func (f *flows) run(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	switch modeOf(req) {
	case "ok", "slow", "fail", "panic", "guardrail", "timeout", "ask":
		return f.loan.Stream(ctx, req, w)
	case "parallel-fail":
		return f.fanout.Stream(ctx, req, w)
	}
	return nil, unknown(req.Text())
}

// release forgets what is kept of a task that has ended.
func (f *flows) release(ctx context.Context, task string) {
	f.loan.Release(ctx, task)
	f.fanout.Release(ctx, task)
	for _, node := range counted {
		_ = f.runs.Delete(ctx, counter(task, node)) // what is left the store's retention removes
	}
}

// isFlow reports whether the task was begun by "flow MODE".
func isFlow(req *agent.Request) bool { return strings.HasPrefix(beginning(req), "flow ") }

func modeOf(req *agent.Request) string {
	return strings.TrimSpace(strings.TrimPrefix(beginning(req), "flow "))
}

// beginning is the text of the task's first message.
func beginning(req *agent.Request) string {
	parts := req.Original().Parts
	if len(parts) == 0 {
		return ""
	}
	return strings.TrimSpace(parts[0].Text())
}
