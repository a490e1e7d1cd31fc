package flow_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/flow"
)

func TestMain(m *testing.M) {
	if crashChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

// trail is a state that remembers in which order outputs were applied.
type trail struct{ Path []string }

func follow(s *trail, id string) { s.Path = append(slices.Clip(s.Path), id) }

// lab builds graphs over a trail and counts what runs.
type lab struct {
	*flow.Graph[trail]
	mu   sync.Mutex
	runs map[string]int
	saw  map[string][][]string // the paths a node saw
}

func newLab(name string) *lab {
	return &lab{Graph: flow.New[trail](name), runs: map[string]int{}, saw: map[string][][]string{}}
}

// node adds a node that returns its id, unless do returns an error.
func (l *lab) node(id string, do func(context.Context, trail) error, opts ...flow.NodeOption) flow.Ref {
	return flow.Node(l.Graph, id, "kind-"+id, func(ctx context.Context, s trail) (string, error) {
		l.mu.Lock()
		l.runs[id]++
		l.saw[id] = append(l.saw[id], s.Path)
		l.mu.Unlock()
		if do == nil {
			return id, nil
		}
		err := do(ctx, s)
		if err != nil {
			return "", err
		}
		return id, nil
	}, follow, opts...)
}

// shaky adds a node that fails the first time and is tried again.
func (l *lab) shaky(id string) flow.Ref {
	return l.node(id, func(context.Context, trail) error {
		if l.ran(id) == 1 {
			return errDown
		}
		return nil
	}, flow.Retry(2), flow.Backoff(0, 0))
}

func (l *lab) ran(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[id]
}

func (l *lab) compile(tb testing.TB, opts ...flow.RunOption) *flow.Compiled[trail] {
	tb.Helper()
	return compile(tb, l.Graph, opts...)
}

// chain links refs one after the other.
func (l *lab) chain(refs ...flow.Ref) {
	for i := range len(refs) - 1 {
		l.Edge(refs[i], refs[i+1])
	}
}

func nodeError(tb testing.TB, err error) *flow.NodeError {
	tb.Helper()
	var ne *flow.NodeError
	if !errors.As(err, &ne) {
		tb.Fatalf("got %v (%T), want a NodeError", err, err)
	}
	return ne
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

var errBoom = errors.New("boom")

func fails(context.Context, trail) error { return errBoom }
