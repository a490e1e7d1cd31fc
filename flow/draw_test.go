package flow_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestDrawing(t *testing.T) {
	t.Parallel()
	l := newLab(`loan "2"`)
	z := l.node("z_first", nil)
	odd := l.node("odd \"id\" <b> #1 `x` [y] \\", nil)
	bad := l.node("bad", fails)
	join := l.node("join", nil)
	l.Edge(flow.START, z)
	l.Edge(z, odd, bad)
	l.Join(join, odd, bad)
	l.Route(join, func(trail) flow.Ref { return flow.END }, z, flow.END)
	l.ContinueOnError(z)
	c := l.compile(t)
	golden(t, "bare.mmd", c.Mermaid(flow.Result[trail]{}, nil))
	golden(t, "bare.dot", c.DOT(flow.Result[trail]{}, nil))
	res, err := c.Run(t.Context(), "r", trail{})
	golden(t, "tolerated.mmd", c.Mermaid(res, err))
	golden(t, "tolerated.dot", c.DOT(res, err))
	res, err = c.Run(t.Context(), "r", trail{}, flow.MaxSteps(1))
	golden(t, "failed.mmd", c.Mermaid(flow.Result[trail]{}, err))
	golden(t, "failed.dot", c.DOT(res, err))
}

// TestDrawingOfANestedFlow: the nodes of the outer flow marked those of the inner
// one that had the same names.
func TestDrawingOfANestedFlow(t *testing.T) {
	t.Parallel()
	inner, l := newLab("inner"), newLab("outer")
	inner.chain(flow.START, inner.node("a", nil), inner.node("b", fails), inner.node("c", nil), flow.END)
	in := inner.compile(t)
	n := flow.Node(l.Graph, "a", "flow", flow.Nested(in, func(s trail) trail { return s }), func(s *trail, v trail) { *s = v })
	l.chain(flow.START, l.node("c", nil), n, flow.END)
	_, err := l.compile(t).Run(t.Context(), "r", trail{})
	want, innerErr := in.Run(t.Context(), "r", trail{})
	if diff := cmp.Diff(in.DOT(want, innerErr), in.DOT(flow.Result[trail]{}, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	o := newLab("other")
	o.chain(flow.START, o.node("b", fails), flow.END)
	_, other := o.compile(t).Run(t.Context(), "r", trail{})
	if in.Mermaid(flow.Result[trail]{}, other) != in.Mermaid(flow.Result[trail]{}, nil) {
		t.Error("another flow's error marks something")
	}
}
