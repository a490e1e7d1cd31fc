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
