package showcase

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/stream"
)

// Self is the agent seen as another's: the rows "remote …" call it over loopback.
// It is nobody until it is told where the agent is served.
type Self struct{ agent atomic.Pointer[remote.Agent] }

// At tells where the agent is served, as the address of its card. To tell it as
// soon as that is known, and not with the first call, matters after a restart:
// only then can a task be cancelled that an earlier process left parked.
func (s *Self) At(address string) error {
	a, err := remote.New(address, remote.Name("showcase"))
	if err == nil {
		s.agent.Store(a)
	}
	return err
}

// passed is what the second agent is asked.
var passed = map[string]string{"remote fail": "app", "remote ask": "ask"}

func isRemote(req *agent.Request) bool { return strings.HasPrefix(beginning(req), "remote ") }

// run passes on what the second agent says: its failure, its question and, with
// the next message, the answer to that.
func (s *Self) run(ctx context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
	text, known := passed[beginning(req)]
	a := s.agent.Load()
	if !known || a == nil {
		return nil, unknown(req.Text())
	}
	answer, err := a.Stream(ctx, remote.Text(text))
	return answer.Result(), err
}
