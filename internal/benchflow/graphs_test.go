package benchflow_test

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/cloudwego/eino/compose"
)

// counter is the state of every graph: each node adds one.
type counter struct{ N int }

// run runs a graph once and returns what it counted to.
type run func(context.Context) (int, error)

// engine is one way to run a graph. The first of a graph is the baseline.
type engine struct {
	name  string
	build func() (run, error)
}

// The engines. einoAll starts a node when all its predecessors have finished.
const (
	plain   = "plain"
	ours    = "flow"
	einoAny = "eino"
	einoAll = "eino-all"
)

// graph is one row of the table.
type graph struct {
	name    string // of the benchmark
	label   string // in the table
	want    int    // what a run counts to
	tiny    bool   // plain Go only calls as many functions, which the targets suppose to be slower
	target  float64
	engines []engine
}

var graphs = []graph{
	{"chain=10", "chain of 10", 10, true, 12, chains(10)},
	{"chain=100", "chain of 100", 100, true, 8, chains(100)},
	{"loop=100", "loop of 100", 100, true, 8, []engine{
		{plain, func() (run, error) { return plainLoop(100) }},
		{ours, func() (run, error) { return flowLoop(100) }},
		{einoAny, func() (run, error) { return einoLoop(100) }},
	}},
	{"fanout=16", "fan-out of 16 and a join", 17, false, 2, []engine{
		{plain, func() (run, error) { return plainFanOut(16) }},
		{ours, func() (run, error) { return flowFanOut(16) }},
		{einoAny, func() (run, error) { return einoFanOut(16, compose.AnyPredecessor) }},
		{einoAll, func() (run, error) { return einoFanOut(16, compose.AllPredecessor) }},
	}},
	{"saved=10", "chain of 10, state kept as JSON after each node", 10, false, 5, []engine{
		{plain, func() (run, error) { return plainChainJSON(10) }},
		{ours, func() (run, error) { return flowChainJSON(10) }},
	}},
	{"working=10", "chain of 10 whose nodes each hash 64 KiB", 10, false, 0, []engine{
		{plain, func() (run, error) { return plainChain(10, plainWorker) }},
		{ours, func() (run, error) { return flowChain(10, flowWorker) }},
		{einoAny, func() (run, error) { return einoChain(10, einoWorker, compose.AnyPredecessor) }},
		{einoAll, func() (run, error) { return einoChain(10, einoWorker, compose.AllPredecessor) }},
	}},
}

func chains(nodes int) []engine {
	return []engine{
		{plain, func() (run, error) { return plainChain(nodes, plainNode) }},
		{ours, func() (run, error) { return flowChain(nodes, flowNode) }},
		{einoAny, func() (run, error) { return einoChain(nodes, einoNode, compose.AnyPredecessor) }},
		{einoAll, func() (run, error) { return einoChain(nodes, einoNode, compose.AllPredecessor) }},
	}
}

var document [64 << 10]byte

// work is a small piece of what a real node does. It returns 1.
func work() int {
	sum := sha256.Sum256(document[:])
	return min(1, 1+int(sum[0]))
}

// TestEnginesAgree: what is compared does the same.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	for _, g := range graphs {
		for _, e := range g.engines {
			t.Run(g.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				r, err := e.build()
				if err != nil {
					t.Fatal(err)
				}
				for range 3 { // a run leaves nothing behind
					if n, err := r(t.Context()); n != g.want || err != nil {
						t.Errorf("counted to %d, error %v, want %d", n, err, g.want)
					}
				}
			})
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	for _, g := range graphs {
		for _, e := range g.engines {
			b.Run(g.name+"/"+e.name, func(b *testing.B) { measure(b, g, e) })
		}
	}
}

func measure(b *testing.B, g graph, e engine) {
	b.Helper()
	b.ReportAllocs()
	r, err := e.build()
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	for b.Loop() {
		if n, err := r(ctx); n != g.want || err != nil {
			b.Fatalf("counted to %d, error %v, want %d", n, err, g.want)
		}
	}
}
