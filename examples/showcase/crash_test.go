package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// kills is how often each crash test kills the program: some times, more often
// in CI (A2AEXEC_LONG), or as often as A2AEXEC_REPEATS says.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("A2AEXEC_REPEATS")); err == nil && n > 0 {
		return n
	}
	if os.Getenv("A2AEXEC_LONG") != "" {
		return 10
	}
	return 3
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "showcase")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "showcase")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", bin, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return bin, nil
})

// server is the program, which is killed and started again.
type server struct {
	addr, store string
	cmd         *exec.Cmd
	client      *a2aclient.Client
	done        chan struct{} // closed when all was read of what it says

	mu    sync.Mutex
	nodes map[string][]string // what ran for each task, in order
}

func newServer(t *testing.T, store string) *server {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return &server{addr: l.Addr().String(), store: store, nodes: map[string][]string{}}
}

var nodeLine = regexp.MustCompile(`^showcase: task (\S+) runs node (\S+)$`)

func (s *server) start(t *testing.T) {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(bin, "-addr", s.addr, "-store", s.store, "-lease", "1s", "-push-private") //nolint:noctx // it is killed
	out, err1 := s.cmd.StdoutPipe()
	log, err2 := s.cmd.StderrPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.done = make(chan struct{})
	var tail bytes.Buffer
	go func() {
		defer close(s.done)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			s.note(lines.Text(), &tail)
		}
	}()
	if lines := bufio.NewScanner(out); !lines.Scan() {
		_ = s.cmd.Wait()
		<-s.done
		t.Fatalf("the program did not start: %s", tail.String())
	}
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), "http://"+s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if s.client, err = a2aclient.NewFromCard(t.Context(), card); err != nil {
		t.Fatal(err)
	}
}

func (s *server) note(line string, tail *bytes.Buffer) {
	if m := nodeLine.FindStringSubmatch(line); m != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.nodes[m[1]] = append(s.nodes[m[1]], m[2])
		return
	}
	if tail.Len() < 4096 {
		tail.WriteString(line + "\n")
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
	_ = s.cmd.Wait()
}

// seen is what clients saw of a task.
type seen struct {
	id        a2a.TaskID
	text      string            // of the message that began it
	artifacts map[string]string // text by id
	ended     *a2a.TaskStatus
}

// load is clients that send messages and remember what they saw.
type load struct {
	mu    sync.Mutex
	tasks map[a2a.TaskID]*seen
}

var loads = []string{"stream 200", "flow slow", "ask", "flow ask", "auth", "ok", "flow slow", "slow 0.3"}

// send sends a message and follows it until it ends or the server dies.
func (l *load) send(ctx context.Context, c *a2aclient.Client, m *a2a.Message) {
	for ev, err := range c.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: m}) {
		if err != nil {
			return
		}
		l.saw(ev, m)
	}
}

func (l *load) saw(ev a2a.Event, m *a2a.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := ev.TaskInfo().TaskID
	s := l.tasks[id]
	if s == nil {
		s = &seen{id: id, text: m.Parts[0].Text(), artifacts: map[string]string{}}
		l.tasks[id] = s
	}
	status := a2a.TaskStatus{}
	switch ev := ev.(type) {
	case *a2a.Task:
		status = ev.Status
		for _, a := range ev.Artifacts {
			s.artifacts[string(a.ID)] = textOf(a.Parts)
		}
	case *a2a.TaskArtifactUpdateEvent:
		if !ev.Append {
			s.artifacts[string(ev.Artifact.ID)] = ""
		}
		s.artifacts[string(ev.Artifact.ID)] += textOf(ev.Artifact.Parts)
	case *a2a.TaskStatusUpdateEvent:
		status = ev.Status
	}
	if status.State.Terminal() {
		s.ended = &status
	}
}

func textOf(parts a2a.ContentParts) (text string) {
	for _, p := range parts {
		text += p.Text()
	}
	return text
}

// run sends messages from several clients until ctx ends: new ones, and answers
// to what is parked.
func (l *load) run(ctx context.Context, c *a2aclient.Client, answers []*a2a.Task) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if n < 2 && 4*n+i < len(answers) {
					l.send(ctx, c, a2a.NewMessageForTask(a2a.MessageRoleUser, answers[4*n+i], a2a.NewTextPart("42")))
					continue
				}
				l.send(ctx, c, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(loads[(n+2*i)%len(loads)])))
			}
		})
	}
	wg.Wait()
}

func between(low, high time.Duration) time.Duration {
	n, _ := rand.Int(rand.Reader, big.NewInt(int64(high-low)))
	return low + time.Duration(n.Int64())
}

// TestKilledUnderLoad kills the program at random moments and starts it again.
// Each time every task ends or is parked, keeps what a client saw of it, ends
// once, and runs no completed node again; at last what is parked is answered.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		s, l := newServer(t, dsn), &load{tasks: map[a2a.TaskID]*seen{}}
		defer func() { s.kill() }()
		var parked []*a2a.Task
		states := map[a2a.TaskState]int{}
		for range kills() {
			s.start(t)
			l.underFire(t, s, parked)
			s.start(t)
			parked, states = l.settle(t, s)
			s.kill()
		}
		s.start(t)
		for _, task := range parked {
			l.send(t.Context(), s.client, a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("42")))
		}
		left, _ := l.settle(t, s)
		if len(left) > 0 {
			t.Errorf("%d of %d parked tasks did not go on when they were answered", len(left), len(parked))
		}
		checkNodes(t, s.nodes)
		t.Logf("%d tasks: %v before the last answers", len(l.tasks), states)
	})
}

// underFire sends messages until the program is killed.
func (l *load) underFire(t *testing.T, s *server, parked []*a2a.Task) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	killed := time.AfterFunc(between(100*time.Millisecond, 1500*time.Millisecond), func() {
		_ = s.cmd.Process.Kill()
		cancel()
	})
	defer killed.Stop()
	l.run(ctx, s.client, parked)
	s.kill()
}

// settle waits until no task is at work, and compares each with what clients saw.
func (l *load) settle(t *testing.T, s *server) (parked []*a2a.Task, states map[a2a.TaskState]int) {
	t.Helper()
	states = map[a2a.TaskState]int{}
	for id, seen := range l.tasks {
		task := rest(t, s, id)
		states[task.Status.State]++
		if !task.Status.State.Terminal() {
			parked = append(parked, task)
		}
		l.compare(t, seen, task)
	}
	slices.SortFunc(parked, func(a, b *a2a.Task) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return parked, states
}

// rest waits until a task has ended or is parked.
func rest(t *testing.T, s *server, id a2a.TaskID) *a2a.Task {
	t.Helper()
	give := time.Now().Add(2 * time.Minute)
	for {
		task, err := s.client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
		if err != nil {
			t.Fatalf("a task that a client saw is lost: %s: %v", id, err)
		}
		switch s := task.Status.State; {
		case s.Terminal(), s == a2a.TaskStateInputRequired, s == a2a.TaskStateAuthRequired:
			return task
		case time.Now().After(give):
			t.Fatalf("task %s is still %s", id, s)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *load) compare(t *testing.T, seen *seen, task *a2a.Task) {
	t.Helper()
	stored := map[string]string{}
	for _, a := range task.Artifacts {
		stored[string(a.ID)] = textOf(a.Parts)
	}
	for id, text := range seen.artifacts {
		if got, ok := stored[id]; !ok || !strings.HasPrefix(got, text) {
			t.Errorf("%q: a client saw the artifact %.40q…, stored is %.40q…", seen.text, text, got)
		}
	}
	if e := seen.ended; e != nil {
		same := e.State == task.Status.State && (e.Message == nil) == (task.Status.Message == nil)
		if same && e.Message != nil {
			same = e.Message.ID == task.Status.Message.ID
		}
		if !same {
			t.Errorf("%q: a client saw it end as %s, now it is %s", seen.text, e.State, task.Status.State)
		}
	}
	if task.Status.State.Terminal() {
		seen.ended = &task.Status
		checkEnd(t, seen, task)
	}
}

// checkEnd looks at how a task ended.
func checkEnd(t *testing.T, seen *seen, task *a2a.Task) {
	t.Helper()
	isFlow := strings.HasPrefix(seen.text, "flow")
	switch {
	case task.Status.State == a2a.TaskStateCompleted:
	case task.Status.State != a2a.TaskStateFailed || isFlow:
		t.Errorf("%q: ended as %s: %s", seen.text, task.Status.State, textOf(task.Status.Message.Parts))
	case !strings.Contains(fmt.Sprint(task.Status.Message.Parts[1].Data()), "process_restarted"):
		t.Errorf("%q: failed with %v", seen.text, task.Status.Message.Parts[1].Data())
	}
}

// checkNodes: the nodes run one after the other, so that one that ran after a
// later one had completed before.
func checkNodes(t *testing.T, runs map[string][]string) {
	t.Helper()
	order := []string{"fetch_subject", "rag_search", "generate_response"}
	for task, nodes := range runs {
		last := 0
		for _, n := range nodes {
			at := slices.Index(order, n)
			if at < last {
				t.Errorf("task %s ran %v: a completed node ran again", task, nodes)
				break
			}
			last = at
		}
	}
	if len(runs) == 0 {
		t.Error("no flow ran at all")
	}
}

// TestTwoProcesses: what one process parked goes on in the other, and what it
// worked on when it was killed the other takes over.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		a, b := newServer(t, dsn), newServer(t, dsn)
		a.start(t)
		defer a.kill()
		b.start(t)
		defer b.kill()
		l := &load{tasks: map[a2a.TaskID]*seen{}}
		l.send(t.Context(), a.client, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("flow ask")))
		for id := range l.tasks {
			task := rest(t, b, id)
			l.send(t.Context(), b.client, a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("42")))
			task = rest(t, a, id)
			if got := textOf(task.Artifacts[len(task.Artifacts)-1].Parts); got != "runs: fetch_subject=1 rag_search=1 generate_response=2" {
				t.Errorf("the flow came to %q", got)
			}
		}
		var flows sync.WaitGroup
		for range 8 {
			flows.Go(func() {
				l.send(t.Context(), a.client, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("flow slow")))
			})
		}
		for a.ran("fetch_subject") < 9 {
			time.Sleep(time.Millisecond)
		}
		a.kill()
		flows.Wait()
		for id, seen := range l.tasks {
			l.compare(t, seen, rest(t, b, id))
		}
		if b.ran("generate_response") == 0 {
			t.Error("the other process took nothing over")
		}
		b.kill()
		checkNodes(t, merged(a.nodes, b.nodes))
	})
}

// ran tells how often a node ran, of whichever task.
func (s *server) ran(node string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, nodes := range s.nodes {
		for _, ran := range nodes {
			if ran == node {
				n++
			}
		}
	}
	return n
}

func merged(first, then map[string][]string) map[string][]string {
	for task, nodes := range then {
		first[task] = append(first[task], nodes...)
	}
	return first
}
