package showcase

import (
	"context"
	"strings"
	"sync"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/stream"
)

// remotes are the rows "remote …", which call a second agent: this one, over
// loopback.
type remotes struct {
	address func() string

	mu    sync.Mutex
	agent *remote.Agent
}

// passed is what the second agent is asked.
var passed = map[string]string{"remote fail": "app", "remote ask": "ask"}

func isRemote(req *agent.Request) bool { return strings.HasPrefix(beginning(req), "remote ") }

// run passes on what the second agent says: its failure, its question and, with
// the next message, the answer to that.
func (r *remotes) run(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
	text, known := passed[beginning(req)]
	a, err := r.self()
	if err != nil {
		return nil, err
	}
	if !known || a == nil {
		return nil, unknown(req.Text())
	}
	answer, err := a.Stream(ctx, remote.Text(text))
	return answer.Result(), err
}

// self is the agent seen as another's, nil while nobody knows where it is.
func (r *remotes) self() (*remote.Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.agent != nil || r.address == nil || r.address() == "" {
		return r.agent, nil
	}
	a, err := remote.New(r.address(), remote.Name("showcase"))
	r.agent = a
	return a, err
}

// release cancels what a task that has ended left parked at the second agent.
func (r *remotes) release(ctx context.Context, task string) {
	if a, err := r.self(); err == nil && a != nil {
		a.Release(ctx, task)
	}
}
