package sqlstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// benchStores runs a benchmark with each store; db is nil for the one in memory,
// which is the baseline.
func benchStores(b *testing.B, f func(b *testing.B, db *sqlstore.DB)) {
	b.Helper()
	b.Run("store=memory", func(b *testing.B) { f(b, nil) })
	b.Run("store=sqlite", func(b *testing.B) { f(b, open(b, dbtest.SQLite(b))) })
	b.Run("store=sqlite-normal", func(b *testing.B) {
		f(b, open(b, "file:"+dbtest.SQLite(b)+"?_pragma=synchronous(NORMAL)"))
	})
	b.Run("store=postgres", func(b *testing.B) { f(b, open(b, dbtest.PostgreSQL(b))) })
}

// BenchmarkSend is a blocking message to an agent that answers at once.
func BenchmarkSend(b *testing.B) {
	a := agent.New("echo", agent.Invoke(agent.TextFunc(func(_ context.Context, text string) (string, error) { return text, nil })))
	benchStores(b, func(b *testing.B, db *sqlstore.DB) {
		b.Helper()
		opts := []executor.Option{executor.Logger(slog.New(slog.DiscardHandler))}
		if db != nil {
			opts = append(opts, executor.TaskStore(db.Tasks()))
		}
		h, err := executor.NewHandler(a, opts...)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
			m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"))
			if _, err := h.SendMessage(ctx, &a2a.SendMessageRequest{Message: m}); err != nil {
				b.Fatal(err)
			}
		}
		if err := h.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFlow is a flow of ten nodes, each of which is saved.
func BenchmarkFlow(b *testing.B) {
	g := flow.New[int]("ten")
	last := flow.START
	for i := range 10 {
		n := flow.Node(g, fmt.Sprint("n", i), "test", func(_ context.Context, s int) (int, error) { return s + 1, nil },
			func(s *int, v int) { *s = v })
		g.Edge(last, n)
		last = n
	}
	g.Edge(last, flow.END)
	c, err := g.Compile(flow.DeleteOnSuccess())
	if err != nil {
		b.Fatal(err)
	}
	benchStores(b, func(b *testing.B, db *sqlstore.DB) {
		b.Helper()
		var s flow.Store = flow.NewMemory()
		if db != nil {
			s = db.Flows()
		}
		n := 0
		for b.Loop() {
			n++
			if _, err := c.Run(b.Context(), fmt.Sprint("run-", n), 0, flow.WithStore(s)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
