package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/a2aexec/a2aexec/flow"
)

type counter struct{ N int }

//go:noinline
func plainNode(_ context.Context, s *counter) (int, error) { return s.N + 1, nil }

//go:noinline
func flowNode(_ context.Context, s counter) (int, error) { return s.N + 1, nil }

func keep(s *counter, n int) { s.N = n }

func chain(tb testing.TB, n int, opts ...flow.RunOption) *flow.Compiled[counter] {
	tb.Helper()
	g := flow.New[counter]("chain")
	last := flow.START
	for i := range n {
		node := flow.Node(g, fmt.Sprintf("n%03d", i), "step", flowNode, keep)
		g.Edge(last, node)
		last = node
	}
	g.Edge(last, flow.END)
	return compile(tb, g, opts...)
}

func compile[S any](tb testing.TB, g *flow.Graph[S], opts ...flow.RunOption) *flow.Compiled[S] {
	tb.Helper()
	c, err := g.Compile(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{10, 100} {
		nodes := make([]func(context.Context, *counter) (int, error), n)
		for i := range nodes {
			nodes[i] = plainNode
		}
		b.Run(fmt.Sprintf("nodes=%d/plain", n), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				var s counter
				for _, f := range nodes {
					v, err := f(ctx, &s)
					if err != nil {
						b.Fatal(err)
					}
					s.N = v
				}
			}
		})
		b.Run(fmt.Sprintf("nodes=%d/flow", n), func(b *testing.B) {
			b.ReportAllocs()
			c, ctx := chain(b, n), b.Context()
			for b.Loop() {
				res, err := c.Run(ctx, "run", counter{})
				if err != nil || res.State.N != n {
					b.Fatal(res.State, err)
				}
			}
		})
	}
}

func BenchmarkLoop(b *testing.B) {
	const rounds = 100
	b.Run("rounds=100/plain", func(b *testing.B) {
		b.ReportAllocs()
		ctx := b.Context()
		nodes := []func(context.Context, *counter) (int, error){plainNode}
		for b.Loop() {
			var s counter
			for s.N < rounds {
				v, err := nodes[0](ctx, &s)
				if err != nil {
					b.Fatal(err)
				}
				s.N = v
			}
		}
	})
	b.Run("rounds=100/flow", func(b *testing.B) {
		b.ReportAllocs()
		g := flow.New[counter]("loop")
		n := flow.Node(g, "n", "step", flowNode, keep)
		g.Edge(flow.START, n)
		g.Route(n, func(s counter) flow.Ref {
			if s.N < rounds {
				return n
			}
			return flow.END
		}, n, flow.END)
		c, ctx := compile(b, g), b.Context()
		for b.Loop() {
			res, err := c.Run(ctx, "run", counter{})
			if err != nil || res.State.N != rounds {
				b.Fatal(res.State, err)
			}
		}
	})
}

func BenchmarkFanOut(b *testing.B) {
	const width = 16
	b.Run("width=16/errgroup", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var s counter
			outs := make([]int, width)
			eg, ctx := errgroup.WithContext(b.Context())
			for i := range width {
				eg.Go(func() error {
					v, err := plainNode(ctx, &s)
					outs[i] = v
					return err
				})
			}
			if err := eg.Wait(); err != nil {
				b.Fatal(err)
			}
			for _, v := range outs {
				s.N += v
			}
		}
	})
	b.Run("width=16/flow", func(b *testing.B) {
		b.ReportAllocs()
		g := flow.New[counter]("fan")
		join := flow.Node(g, "join", "step", flowNode, keep)
		for i := range width {
			n := flow.Node(g, fmt.Sprintf("n%d", i), "step", flowNode, func(s *counter, v int) { s.N += v })
			g.Edge(flow.START, n)
			g.Join(join, n)
		}
		g.Edge(join, flow.END)
		c, ctx := compile(b, g), b.Context()
		for b.Loop() {
			res, err := c.Run(ctx, "run", counter{})
			if err != nil || res.State.N != width+1 {
				b.Fatal(res.State, err)
			}
		}
	})
}

func BenchmarkCheckpoint(b *testing.B) {
	const n = 10
	nodes := make([]func(context.Context, *counter) (int, error), n)
	for i := range nodes {
		nodes[i] = plainNode
	}
	b.Run("nodes=10/plain", func(b *testing.B) {
		b.ReportAllocs()
		ctx := b.Context()
		for b.Loop() {
			var s counter
			for _, f := range nodes {
				v, err := f(ctx, &s)
				if err != nil {
					b.Fatal(err)
				}
				s.N = v
				if _, err := json.Marshal(&s); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("nodes=10/flow", func(b *testing.B) {
		b.ReportAllocs()
		c, ctx := chain(b, n, flow.WithStore(flow.NewMemory()), flow.DeleteOnSuccess()), b.Context()
		for b.Loop() {
			if _, err := c.Run(ctx, "run", counter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
