package showcase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

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

// flows are the showcase's flows, and how often their nodes ran for each task.
type flows struct {
	loan   *agent.FlowRunner[loan]
	fanout *agent.FlowRunner[loan]

	mu   sync.Mutex
	runs map[string]map[string]int // by task and node
}

func newFlows() (*flows, error) {
	f := &flows{runs: map[string]map[string]int{}}
	line, err := f.loanFlow().Compile()
	if err != nil {
		return nil, err
	}
	fan, err := f.fanoutFlow().Compile()
	if err != nil {
		return nil, err
	}
	var errLoan, errFan error
	f.loan, errLoan = agent.NewFlowRunner(line, f.begin, f.finish)
	f.fanout, errFan = agent.NewFlowRunner(fan, f.begin, f.finish)
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
		f.ran(s.Task, node)
		return fn(ctx, s)
	}
}

func (f *flows) count2(fn flow.Func[loan, []string]) flow.Func[loan, []string] {
	return func(ctx context.Context, s loan) ([]string, error) {
		f.ran(s.Task, "rag_search")
		return fn(ctx, s)
	}
}

func (f *flows) ran(task, node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs[task] == nil {
		f.runs[task] = map[string]int{}
	}
	f.runs[task][node]++
}

func (f *flows) begin(_ context.Context, req *agent.Request) (loan, error) {
	return loan{Task: req.TaskID(), Mode: modeOf(req)}, nil
}

// finish answers with what the flow found or, where it asked, with how often
// each node ran.
func (f *flows) finish(_ context.Context, s loan) (*agent.Result, error) {
	if s.Mode != "ask" {
		return agent.Text(s.Answer), nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.runs[s.Task]
	return agent.Text(fmt.Sprintf("runs: fetch_subject=%d rag_search=%d generate_response=%d",
		n["fetch_subject"], n["rag_search"], n["generate_response"])), nil
}

// run is the row "flow MODE".
func (f *flows) run(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	res, err := f.dispatch(ctx, req, w)
	if hitl.Find(err) == nil { // the task has ended
		f.release(ctx, req.TaskID())
	}
	return res, err
}

func (f *flows) dispatch(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
	switch modeOf(req) {
	case "ok", "fail", "panic", "guardrail", "timeout", "ask":
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
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.runs, task)
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
