package executor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// soakKind is one thing that the soaked agent does, and how its task must end.
type soakKind struct {
	text string
	code errcode.Code // of the failure; empty: completed, or canceled when deaf
	run  agent.StreamFunc
}

func soakKinds(deaf <-chan struct{}) []soakKind {
	fails := func(text string, code errcode.Code, err func() error) soakKind {
		return soakKind{text, code, func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) { return nil, err() }}
	}
	answered := func(text string, ask func() error) soakKind {
		return soakKind{text, "", func(_ context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
			if _, asked := req.Question(); asked {
				return agent.Text("answered"), nil
			}
			return nil, ask()
		}}
	}
	chunks := func(w *stream.Writer, n int) (err error) {
		for range n {
			err = errors.Join(err, w.Text("chunk "))
		}
		return err
	}
	ok := []soakKind{
		{"ok", "", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return agent.Text("ok"), nil
		}},
		{"chunks", "", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, chunks(w, 20)
		}},
		answered("ask", func() error { return hitl.InputRequired("?") }),
		answered("auth", func() error { return hitl.AuthRequired("!") }),
	}
	failing := []soakKind{
		fails("error", errcode.Internal, func() error { return errors.New("an error") }),
		fails("app", errcode.RateLimited, func() error { return errcode.New(errcode.RateLimited, "quota") }),
		fails("timeout", errcode.UpstreamTimeout, func() error { return fmt.Errorf("call: %w", context.DeadlineExceeded) }),
		fails("guardrail", errcode.GuardrailBlocked, func() error { return &errcode.GuardrailBlockedError{Category: "x"} }),
		fails("panic", errcode.Internal, func() error { panic("hunter2") }),
		fails("goexit", errcode.Internal, func() error { runtime.Goexit(); return nil }),
		fails("loop", errcode.Internal, func() error { return &loopError{} }),
		{"partial", errcode.Internal, func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			return nil, errors.Join(chunks(w, 5), errors.New("half-way"))
		}},
		{"deaf", "", func(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			_ = w.Text("I do not listen.")
			<-ctx.Done()
			<-deaf // goes on all the same
			return nil, nil
		}},
	}
	var all []soakKind // a third of them fail
	for i := range failing {
		all = append(all, failing[i], ok[i%len(ok)], ok[(i+1)%len(ok)])
	}
	return all
}

// TestSoak: many clients at once over loopback HTTP, a third of the tasks
// failing in every way. None hangs, none fails without saying why, and nothing
// is left of them. A2AEXEC_SOAK gives the number of tasks.
//
// It is not parallel: it counts goroutines.
func TestSoak(t *testing.T) {
	tasks := repeats(400, 4000)
	if n, err := strconv.Atoi(os.Getenv("A2AEXEC_SOAK")); err == nil {
		tasks = n
	}
	s := &soak{deaf: make(chan struct{}), tasks: int64(tasks)}
	s.kinds = soakKinds(s.deaf)
	before := goleak.IgnoreCurrent()
	s.client(t, func() {
		started := time.Now()
		var workers sync.WaitGroup
		for range 500 {
			workers.Go(func() { s.work(t) })
		}
		workers.Wait()
		slices.Sort(s.took)
		elapsed := time.Since(started)
		t.Logf("%d tasks in %v, %.0f a second; p50 %v, p99 %v, longest %v", len(s.took), elapsed.Round(time.Millisecond),
			float64(len(s.took))/elapsed.Seconds(), s.took[len(s.took)/2], s.took[len(s.took)*99/100], s.took[len(s.took)-1])
		t.Logf("heap after a quarter, and at the end: %d MiB, %d MiB; goroutines %d, %d",
			s.quarter.heap>>20, measure().heap>>20, s.quarter.goroutines, measure().goroutines)
		if end := measure(); end.heap > s.quarter.heap+s.quarter.heap/2+(64<<20) {
			t.Errorf("the heap grows: %d MiB after a quarter of the tasks, %d MiB after all", s.quarter.heap>>20, end.heap>>20)
		}
	})
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

type soak struct {
	kinds   []soakKind
	deaf    chan struct{} // lets one deaf handler go
	tasks   int64
	next    atomic.Int64
	to      *a2aclient.Client
	quarter usage

	mu   sync.Mutex
	took []time.Duration
}

type usage struct {
	heap       uint64
	goroutines int
}

func measure() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{m.HeapAlloc, runtime.NumGoroutine()}
}

// client serves the agent, runs work, and stops it.
func (s *soak) client(t *testing.T, work func()) {
	t.Helper()
	a := agent.New("soak", agent.Stream(func(ctx context.Context, req *agent.Request, w *stream.Writer) (*agent.Result, error) {
		return s.kindOf(req.Original().Parts[0].Text()).run(ctx, req, w)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	addr, served := make(chan string, 1), make(chan error, 1)
	go func() {
		served <- executor.Serve(ctx, "127.0.0.1:0", a, quiet, executor.GracePeriod(time.Millisecond),
			executor.OnListen(func(h, _ net.Addr) { addr <- "http://" + h.String() }))
	}()
	card, err := agentcard.DefaultResolver.Resolve(ctx, <-addr)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 500}
	s.to, err = a2aclient.NewFromCard(ctx, card, a2aclient.WithJSONRPCTransport(&http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	work()
	transport.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func (s *soak) kindOf(text string) soakKind {
	return s.kinds[slices.IndexFunc(s.kinds, func(k soakKind) bool { return k.text == text })]
}

// work does tasks until all are done.
func (s *soak) work(t *testing.T) {
	t.Helper()
	for i := s.next.Add(1) - 1; i < s.tasks; i = s.next.Add(1) - 1 {
		if i == s.tasks/4 {
			s.quarter = measure()
		}
		k := s.kinds[i%int64(len(s.kinds))]
		started := time.Now()
		if err := s.task(t.Context(), k, i/int64(len(s.kinds))%2 == 0); err != nil {
			t.Errorf("%s: %v", k.text, err)
		}
		s.mu.Lock()
		s.took = append(s.took, time.Since(started))
		s.mu.Unlock()
	}
}

// task does one task, and checks its end.
func (s *soak) task(ctx context.Context, k soakKind, streaming bool) error {
	if k.text == "deaf" {
		return s.cancelDeaf(ctx)
	}
	task, err := s.send(ctx, userMessage(k.text), streaming)
	if err != nil {
		return err
	}
	if k.text == "ask" || k.text == "auth" {
		answer := userMessage("answer")
		answer.Message.TaskID = task.ID
		if task, err = s.send(ctx, answer, streaming); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	if k.code == "" {
		if task.Status.State != a2a.TaskStateCompleted {
			return fmt.Errorf("state %s, want completed", task.Status.State)
		}
		return nil
	}
	e, failed := errcode.FromTask(task)
	if !failed || e.Code() != k.code || e.CorrelationID() == "" {
		return fmt.Errorf("state %s, want %s: %w", task.Status.State, k.code, e)
	}
	return nil
}

// cancelDeaf cancels a task whose code does not notice.
func (s *soak) cancelDeaf(ctx context.Context) error {
	state, canceled := a2a.TaskStateUnspecified, false
	for ev, err := range s.to.SendStreamingMessage(ctx, userMessage("deaf")) {
		if err != nil {
			return err
		}
		switch e := ev.(type) {
		case *a2a.TaskArtifactUpdateEvent: // its code runs
			if canceled {
				continue
			}
			canceled = true
			if _, err := s.to.CancelTask(ctx, &a2a.CancelTaskRequest{ID: e.TaskID}); err != nil {
				return fmt.Errorf("cancel: %w", err)
			}
		case *a2a.TaskStatusUpdateEvent:
			state = e.Status.State
		}
	}
	if state != a2a.TaskStateCanceled {
		return fmt.Errorf("state %s, want canceled", state)
	}
	s.deaf <- struct{}{}
	return nil
}

// send gives the task as it is when its turn is over.
func (s *soak) send(ctx context.Context, req *a2a.SendMessageRequest, streaming bool) (*a2a.Task, error) {
	if !streaming {
		res, err := s.to.SendMessage(ctx, req)
		task, _ := res.(*a2a.Task)
		return task, err
	}
	var task a2a.Task
	for ev, err := range s.to.SendStreamingMessage(ctx, req) {
		if err != nil {
			return nil, err
		}
		task.ID = ev.TaskInfo().TaskID
		switch e := ev.(type) {
		case *a2a.Task:
			task.Status = e.Status
		case *a2a.TaskStatusUpdateEvent:
			task.Status = e.Status
		}
	}
	return &task, nil
}
