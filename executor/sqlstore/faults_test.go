package sqlstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/dbtest"
	"github.com/a2aexec/a2aexec/stream"
)

// bulky answers with many bytes.
func bulky(*sqlstore.DB) *agent.Agent {
	return agent.New("bulky", agent.Invoke(func(context.Context, *agent.Request) (*agent.Result, error) {
		b := make([]byte, 100_000)
		_, _ = rand.Read(b)
		return agent.Files(stream.File{Name: "x.bin", Bytes: b}), nil
	}))
}

// smallDisk mounts a file system of two megabytes.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Skipf("no small disk: mounting a tmpfs needs root: %s", bytes.TrimSpace(out))
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// A full disk fails what is new, loses nothing of what is there, and when there
// is room again the server goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, filepath.Join(dir, "x.db"), bulky)
	var done []*a2a.Task
	var failure error
	for failure == nil {
		task, err := p.send(t, said("more"))
		if failure = err; err == nil && task.Status.State == a2a.TaskStateCompleted {
			done = append(done, task)
		}
		if len(done) > 100 {
			t.Fatal("the disk does not fill")
		}
	}
	if !errors.Is(failure, a2a.ErrInternalError) || strings.Contains(failure.Error(), "disk") {
		t.Errorf("a client got %v, want an internal error without its cause", failure)
	}
	for _, task := range done {
		if got := p.task(t, task.ID); got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 1 {
			t.Errorf("a task that had completed is %s", got.Status.State)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	res, err := p.ListTasks(asMe(t.Context()), &a2a.ListTasksRequest{PageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range res.Tasks { // of the one that failed too, if it was begun
		rest := p.untilRests(t, task.ID)
		data, failed := errcode.FromTask(rest)
		// With its artifact left out the task may just fit.
		if failed && data.Reason() != "process_restarted" && data.Reason() != "host_stopped" {
			t.Errorf("a task failed with %v", data)
		}
	}
	if task, err := p.send(t, said("more")); err != nil || task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("with room again: got %v, %v", task, err)
	}
}

// untilRests waits until nothing works on the task.
func (p *process) untilRests(t *testing.T, id a2a.TaskID) *a2a.Task {
	t.Helper()
	task := p.task(t, id)
	for !task.Status.State.Terminal() {
		time.Sleep(5 * time.Millisecond)
		task = p.task(t, id)
	}
	return task
}

func TestLockedFile(t *testing.T) {
	t.Parallel()
	file := dbtest.SQLite(t)
	p := start(t, "file:"+file+"?_pragma=busy_timeout(50)", bulky)
	other, err := sql.Open("sqlite", "file:"+file+"?_txlock=exclusive&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.db.Tasks().Create(asMe(t.Context()), &a2a.Task{ID: "t"})
	if err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("got %v, want one that says locked", err)
	}
	if _, err := p.send(t, said("x")); !errors.Is(err, a2a.ErrInternalError) {
		t.Errorf("a client got %v, want an internal error", err)
	}
	if _, err := sqlstore.Open(t.Context(), "file:"+file+"?_pragma=busy_timeout(50)"); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("opening: got %v, want one that says locked", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if task, err := p.send(t, said("x")); err != nil || task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("unlocked: got %v, %v", task, err)
	}
}

// What is damaged is an error, never a task or a run that is not there.
func TestCorruptFile(t *testing.T) {
	t.Parallel()
	file := dbtest.SQLite(t)
	db := open(t, file)
	ctx := asMe(t.Context())
	for i := range 50 {
		task := &a2a.Task{ID: a2a.TaskID(fmt.Sprint("t", i)), Metadata: map[string]any{"x": strings.Repeat("x", 5000)}}
		if _, err := db.Tasks().Create(ctx, task); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flows().Save(ctx, flow.Checkpoint{Run: "r", Seq: 1, Data: make([]byte, 50_000)}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(content); i++ { // all but the first page
		content[i] = 0x5a
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err = sqlstore.Open(t.Context(), file)
	if err != nil {
		if !strings.Contains(err.Error(), "malformed") {
			t.Errorf("opening: got %v, want one that says malformed", err)
		}
		return
	}
	defer func() { _ = db.Close() }()
	_, getErr := db.Tasks().Get(ctx, "t1")
	_, listErr := db.Tasks().List(ctx, &a2a.ListTasksRequest{})
	_, loadErr := db.Flows().Load(ctx, "r")
	for what, err := range map[string]error{"get": getErr, "list": listErr, "load": loadErr} {
		if err == nil || errors.Is(err, a2a.ErrTaskNotFound) || errors.Is(err, flow.ErrUnknownRun) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// A row that somebody else wrote is an error too.
func TestCorruptRow(t *testing.T) {
	t.Parallel()
	file := dbtest.SQLite(t)
	db := open(t, file)
	ctx := asMe(t.Context())
	if _, err := db.Tasks().Create(ctx, &a2a.Task{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	if _, err := raw.ExecContext(ctx, `UPDATE a2a_tasks SET body = '{"id": nonsense'`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Tasks().Get(ctx, "t"); !errors.Is(err, sqlstore.ErrCorrupt) {
		t.Errorf("get: got %v, want ErrCorrupt", err)
	}
	if _, err := db.Tasks().List(ctx, &a2a.ListTasksRequest{}); !errors.Is(err, sqlstore.ErrCorrupt) {
		t.Errorf("list: got %v, want ErrCorrupt", err)
	}
}

// wire leads to the database and can be cut.
type wire struct {
	l      net.Listener
	target string
	wg     sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	mute  bool          // the next answer of the server does not arrive, and its connection breaks
	hole  chan struct{} // while it is open nothing arrives, and no connection breaks
	conns map[net.Conn]bool
}

// wired gives the URL of a database that is reached by a wire.
func wired(t *testing.T, dsn string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{l: l, target: u.Host, conns: map[net.Conn]bool{}}
	w.wg.Go(w.serve)
	t.Cleanup(func() {
		_ = l.Close()
		w.set(true)
		w.wg.Wait()
	})
	u.Host = l.Addr().String()
	return w, u.String()
}

func (w *wire) serve() {
	for {
		c, err := w.l.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.target) //nolint:noctx // closed by set
		if err != nil || !w.keep(c, to) {
			_ = c.Close()
			continue
		}
		w.wg.Go(func() {
			w.ask(to, c)
			_, _ = to.Close(), c.Close()
		})
		w.wg.Go(func() {
			w.answer(c, to)
			_, _ = to.Close(), c.Close()
		})
	}
}

// ask passes on what the client says.
func (w *wire) ask(to, c net.Conn) {
	for buf := make([]byte, 1<<16); ; {
		n, err := c.Read(buf)
		w.mu.Lock()
		hole := w.hole
		w.mu.Unlock()
		if hole != nil {
			<-hole
		}
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			return
		}
	}
}

// swallow has nothing arrive until the function that it returns is called.
func (w *wire) swallow() (mend func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hole := make(chan struct{})
	w.hole = hole
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hole = nil
		close(hole)
	})
}

// answer passes on what the server says.
func (w *wire) answer(c, to net.Conn) {
	for buf := make([]byte, 1<<16); ; {
		n, err := to.Read(buf)
		w.mu.Lock()
		mute := w.mute
		w.mute = false
		w.mu.Unlock()
		if mute {
			return
		}
		if _, failed := c.Write(buf[:n]); err != nil || failed != nil {
			return
		}
	}
}

// loseAnswer has the server do what it is asked next, but not say so.
func (w *wire) loseAnswer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute = true
}

func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		if w.cut {
			_ = c.Close()
			continue
		}
		w.conns[c] = true
	}
	return !w.cut
}

// set cuts the wire, or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for c := range w.conns {
		_ = c.Close()
		delete(w.conns, c)
	}
}

// The database is gone for longer than a lease: the run is stopped, for another
// process may have it, and no ending is made up. When the database is back the
// flow goes on where it was.
func TestDatabaseGoneAndBack(t *testing.T) {
	t.Parallel()
	w, dsn := wired(t, dbtest.PostgreSQL(t))
	l := newLoan()
	p := start(t, dsn, l.agent)
	events, stop := p.stream(t, said("begin"))
	defer stop()
	id := next(t, events).TaskInfo().TaskID
	<-l.began
	w.set(true)
	ev, err, _ := events()
	if !errors.Is(err, a2a.ErrInternalError) {
		t.Errorf("the client got %v, %v, want an error", ev, err)
	}
	select {
	case o := <-p.outcomes:
		t.Errorf("the hook was told of %+v", o)
	default:
	}
	if _, err := p.GetTask(asMe(t.Context()), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, a2a.ErrInternalError) {
		t.Errorf("get: %v, want an internal error", err)
	}
	close(l.gate)
	w.set(false)
	task := p.untilRests(t, id)
	if task.Status.State != a2a.TaskStateCompleted || l.runs() != "map[first:1 second:2 third:1]" || l.effects.Load() != 1 {
		t.Errorf("the task is %s; the nodes ran %s, the effect %d times", task.Status.State, l.runs(), l.effects.Load())
	}
}

// The database is gone for less than a lease as a node ends: its checkpoint cannot
// be saved, and by the time of the ending the database was back, so that the flow
// had failed for good.
func TestDatabaseGoneForHalfALease(t *testing.T) {
	t.Parallel()
	w, dsn := wired(t, dbtest.PostgreSQL(t))
	l, stopped := newLoan(), make(chan bool, 1)
	p := start(t, dsn, l.agent, executor.Logger(slog.New(telling{slog.DiscardHandler, "the run's lease is lost, it is stopped", stopped})))
	events, stop := p.stream(t, said("begin"))
	defer stop()
	id := next(t, events).TaskInfo().TaskID
	<-l.began
	w.set(true)
	close(l.gate)
	<-stopped
	w.set(false)
	if ev, err, _ := events(); !errors.Is(err, a2a.ErrInternalError) {
		t.Errorf("the client got %v, %v, want an error", ev, err)
	}
	task := p.untilRests(t, id)
	if task.Status.State != a2a.TaskStateCompleted || l.effects.Load() != 1 {
		data, _ := errcode.FromTask(task)
		t.Errorf("the task is %s (%v); the nodes ran %s", task.Status.State, data, l.runs())
	}
}

// telling is a log that tells of one line.
type telling struct {
	slog.Handler
	line string
	told chan<- bool
}

func (h telling) Enabled(context.Context, slog.Level) bool { return true }
func (h telling) Handle(_ context.Context, r slog.Record) error {
	if r.Message == h.line {
		select {
		case h.told <- true:
		default:
		}
	}
	return nil
}

// A process is cut off from the database without a connection breaking. A message
// that came then waited for an answer with the worker's lock, the heartbeat waited
// with it, and the code of a run went on although another process had its task.
func TestProcessThatIsCutOffStopsItsRuns(t *testing.T) {
	t.Parallel()
	w, cut := wired(t, dbtest.PostgreSQL(t))
	stopped := make(chan error, 10)
	a := start(t, cut, hanging(stopped), executor.RecoverEvery(0)) // a lease of 3 s
	events, stop := a.stream(t, said("hang"))
	defer stop()
	next(t, events)
	next(t, events) // the chunk
	mend := w.swallow()
	defer mend()
	var messages sync.WaitGroup
	defer messages.Wait()
	for waiting := true; waiting; {
		messages.Go(func() { _, _ = a.SendMessage(asMe(t.Context()), &a2a.SendMessageRequest{Message: said("hello")}) })
		select {
		case cause := <-stopped:
			waiting = cause == nil
		case <-time.After(100 * time.Millisecond):
		}
	}
	mend()
}

// The database is gone for a moment while a run works: the run does not notice.
func TestDatabaseGoneForAMoment(t *testing.T) {
	t.Parallel()
	w, dsn := wired(t, dbtest.PostgreSQL(t))
	l := newLoan()
	p := start(t, dsn, l.agent)
	events, stop := p.stream(t, said("begin"))
	defer stop()
	id := next(t, events).TaskInfo().TaskID
	<-l.began
	w.set(true)
	if _, err := p.GetTask(asMe(t.Context()), &a2a.GetTaskRequest{ID: id}); !errors.Is(err, a2a.ErrInternalError) {
		t.Errorf("get: %v, want an internal error", err)
	}
	w.set(false)
	close(l.gate)
	if task := p.untilRests(t, id); task.Status.State != a2a.TaskStateCompleted || l.runs() != "map[first:1 second:1 third:1]" {
		t.Errorf("the task is %s; the nodes ran %s", task.Status.State, l.runs())
	}
}

// The server does what it is asked, but its answer is lost with the connection:
// nothing is done twice, and nothing is told to have failed.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	w, dsn := wired(t, dbtest.PostgreSQL(t))
	// One round trip for each statement, on one connection.
	db := open(t, dsn+"&default_query_exec_mode=exec", sqlstore.Conns(1))
	ctx, tasks, flows := asMe(t.Context()), db.Tasks(), db.Flows()
	task := func(by string) *a2a.Task {
		return &a2a.Task{ID: "t", Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired}, Metadata: map[string]any{"by": by}}
	}
	save := func(seq uint64) error {
		return flows.Save(ctx, flow.Checkpoint{Run: "r", Seq: seq, Data: fmt.Append(nil, seq)})
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { _, err := tasks.Create(ctx, task("me")); return err }},
		{"update", func() error {
			v, err := tasks.Update(ctx, &taskstore.UpdateRequest{Task: task("you"), PrevVersion: 1})
			if err == nil && v != 2 {
				err = fmt.Errorf("version %d", v)
			}
			return err
		}},
		{"save the first", func() error { return save(1) }},
		{"save the second", func() error { return save(2) }},
	} {
		if _, err := flows.Load(ctx, "none"); !errors.Is(err, flow.ErrUnknownRun) { // connects
			t.Fatal(err)
		}
		w.loseAnswer()
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	st, err := tasks.Get(ctx, "t")
	if err != nil || st.Version != 2 || st.Task.Metadata["by"] != "you" {
		t.Errorf("stored is %+v, %v", st, err)
	}
	if c, err := flows.Load(ctx, "r"); err != nil || c.Seq != 2 || string(c.Data) != "2" {
		t.Errorf("saved is %+v, %v", c, err)
	}
	// What somebody else has stored meanwhile is no answer that was lost.
	w.loseAnswer()
	if _, err := tasks.Create(ctx, task("another")); !errors.Is(err, taskstore.ErrTaskAlreadyExists) {
		t.Errorf("create again: got %v, want ErrTaskAlreadyExists", err)
	}
}
