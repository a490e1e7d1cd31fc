package executor_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/stream"
)

// handWritten is the least that an author writes on the bare host: the task
// submitted, working, an artifact, completed.
type handWritten struct{}

func (handWritten) Execute(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		_ = yield(a2a.NewSubmittedTask(ec, ec.Message), nil) &&
			yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, nil), nil) &&
			yield(a2a.NewArtifactEvent(ec, a2a.NewTextPart("hello")), nil) &&
			yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	}
}

func (handWritten) Cancel(context.Context, *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(func(a2a.Event, error) bool) {}
}

// BenchmarkBlockingSend compares a blocking send through this package with a
// hand-written executor on the bare host.
func BenchmarkBlockingSend(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	ours := func(f agent.InvokeFunc) a2asrv.RequestHandler {
		h, err := executor.NewHandler(agent.New("bench", agent.Invoke(f)), executor.Logger(quiet))
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	for _, c := range []struct {
		name string
		h    a2asrv.RequestHandler
	}{
		{"host=handwritten", a2asrv.NewHandler(handWritten{}, a2asrv.WithLogger(quiet))},
		{"executor=completed", ours(func(context.Context, *agent.Request) (*agent.Result, error) { return agent.Text("hello"), nil })},
		{"executor=failed", ours(func(context.Context, *agent.Request) (*agent.Result, error) {
			return nil, fmt.Errorf("bank: %w", &errcode.ComponentInvokeError{Component: "bank"})
		})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
			for b.Loop() {
				msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
				if _, err := c.h.SendMessage(ctx, &a2a.SendMessageRequest{Message: msg}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStreamingSend does the same for a stream of the same events.
func BenchmarkStreamingSend(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	h, err := executor.NewHandler(agent.New("bench", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
		return agent.Text("hello"), nil
	})), executor.Logger(quiet))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		h    a2asrv.RequestHandler
	}{
		{"host=handwritten", a2asrv.NewHandler(handWritten{}, a2asrv.WithLogger(quiet))},
		{"executor=completed", h},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
			for b.Loop() {
				msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
				for _, err := range c.h.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: msg}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// chunkByChunk is a hand-written stream on the bare host: an event a chunk.
type chunkByChunk struct {
	handWritten
	n int
}

func (c chunkByChunk) Execute(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		ok := yield(a2a.NewSubmittedTask(ec, ec.Message), nil)
		first := a2a.NewArtifactEvent(ec, a2a.NewTextPart(chunk20))
		for i := 0; ok && i < c.n; i++ {
			ev := first
			if i > 0 {
				ev = a2a.NewArtifactUpdateEvent(ec, first.Artifact.ID, a2a.NewTextPart(chunk20))
			}
			ok = yield(ev, nil)
		}
		_ = ok && yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	}
}

const chunk20 = "twenty bytes long.. "

// BenchmarkStreamBurst streams chunks of 20 bytes as fast as it goes. The bare
// host's cost grows with the square of their number: 5,000 take it most of a
// minute, so it is measured to 1,000.
func BenchmarkStreamBurst(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	ours := func(n int) a2asrv.RequestHandler {
		h, err := executor.NewHandler(agent.New("bench", agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for range n {
				if err := w.Text(chunk20); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})), executor.Logger(quiet))
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	for _, n := range []int{100, 1000, 5000, 20_000} {
		cases := map[string]a2asrv.RequestHandler{"executor": ours(n)}
		if n <= 1000 {
			cases["host"] = a2asrv.NewHandler(chunkByChunk{n: n}, a2asrv.WithLogger(quiet))
		}
		for _, name := range []string{"host", "executor"} {
			h, ok := cases[name]
			if !ok {
				continue
			}
			b.Run(fmt.Sprintf("chunks=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
				for b.Loop() {
					msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
					for _, err := range h.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: msg}) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkFirstChunk is the time until a client has the first chunk of a
// stream.
func BenchmarkFirstChunk(b *testing.B) {
	quiet := slog.New(slog.DiscardHandler)
	h, err := executor.NewHandler(agent.New("bench", agent.Stream(func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		return nil, w.Text(chunk20)
	})), executor.Logger(quiet))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		h    a2asrv.RequestHandler
	}{
		{"host", a2asrv.NewHandler(chunkByChunk{n: 1}, a2asrv.WithLogger(quiet))},
		{"executor", h},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
			var until time.Duration
			for b.Loop() {
				started := time.Now()
				msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
				came := false
				for ev, err := range c.h.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: msg}) {
					if err != nil {
						b.Fatal(err)
					}
					if _, ok := ev.(*a2a.TaskArtifactUpdateEvent); ok && !came {
						came = true
						until += time.Since(started)
					}
				}
			}
			b.ReportMetric(float64(until.Microseconds())/float64(b.N), "µs/first")
		})
	}
}

// BenchmarkManyAtOnce has 1,000 tasks that take 300 ms at once, and tells how
// long the slowest hundredth of them takes.
func BenchmarkManyAtOnce(b *testing.B) {
	const tasks, hold = 1000, 300 * time.Millisecond
	quiet := slog.New(slog.DiscardHandler)
	h, err := executor.NewHandler(agent.New("bench", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
		time.Sleep(hold)
		return agent.Text("hello"), nil
	})), executor.Logger(quiet))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		h    a2asrv.RequestHandler
	}{
		{"host", a2asrv.NewHandler(holding{hold: hold}, a2asrv.WithLogger(quiet))},
		{"executor", h},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				took := make([]time.Duration, tasks)
				var all sync.WaitGroup
				for i := range tasks {
					all.Go(func() {
						ctx, _ := a2asrv.NewCallContext(b.Context(), nil)
						started := time.Now()
						msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
						if _, err := c.h.SendMessage(ctx, &a2a.SendMessageRequest{Message: msg}); err != nil {
							b.Error(err)
						}
						took[i] = time.Since(started)
					})
				}
				all.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[tasks/2].Milliseconds()), "p50-ms")
				b.ReportMetric(float64(took[tasks*99/100].Milliseconds()), "p99-ms")
			}
		})
	}
}

// holding is the hand-written executor that takes its time.
type holding struct {
	handWritten
	hold time.Duration
}

func (h holding) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		time.Sleep(h.hold)
		h.handWritten.Execute(ctx, ec)(yield)
	}
}
