package executor

import (
	"slices"
	"sync"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// losses collects what a run's code handed over and JSON cannot express, to be
// logged when the code has returned: a logger may block, and a writer holds its
// lock while an event is sent.
type losses struct {
	mu   sync.Mutex
	list []string
}

// mostLosses bounds what is kept of them; the rest is as the first.
const mostLosses = 100

func (l *losses) add(dropped []string) {
	if len(dropped) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, dropped[:min(len(dropped), mostLosses-len(l.list))]...)
}

// take gives what was collected since it was last called.
func (l *losses) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.list
	l.list = nil
	return out
}

// plainly makes a result that nobody else has, of plain values. Making them
// calls the user's methods: only the handler goroutine may.
func (r *run) plainly(res *agent.Result) *agent.Result {
	if res == nil {
		return nil
	}
	out := *res
	out.Artifacts = slices.Clone(res.Artifacts)
	for i := range out.Artifacts {
		a := &out.Artifacts[i]
		a.Parts = slices.Clone(a.Parts)
		for _, p := range a.Parts {
			r.lost.add(p.Dropped())
		}
		if len(a.Metadata) > 0 {
			var dropped []string
			a.Metadata, dropped = plain.Map(a.Metadata)
			r.lost.add(dropped)
		}
	}
	return &out
}
