package flow_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

// fileStore keeps the last checkpoint of each run in a file that is replaced by
// renaming.
type fileStore struct {
	mu  sync.Mutex
	dir string
}

func (s *fileStore) path(run string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(run))))
}

func (s *fileStore) Load(ctx context.Context, run string) (flow.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(ctx, run)
}

func (s *fileStore) load(ctx context.Context, run string) (c flow.Checkpoint, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	data, err := os.ReadFile(s.path(run))
	if errors.Is(err, fs.ErrNotExist) {
		return c, flow.ErrUnknownRun
	}
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

func (s *fileStore) Save(ctx context.Context, c flow.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.load(ctx, c.Run)
	if err != nil && !errors.Is(err, flow.ErrUnknownRun) {
		return err
	}
	if c.Seq != last.Seq+1 {
		return flow.ErrConflict
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path(c.Run)+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(s.path(c.Run)+".new", s.path(c.Run))
}

func (s *fileStore) Delete(ctx context.Context, run string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Remove(s.path(run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const crashEnv = "FLOW_CRASH_TEST" // dir, and the number of the event to die at

// crashFlow is a chain, a fan-out with a long branch, and a loop.
func crashFlow(began func(visit string)) (*flow.Compiled[trail], error) {
	g := flow.New[trail]("crash")
	node := func(id string) flow.Ref {
		return flow.Node(g, id, "k", func(ctx context.Context, _ trail) (string, error) {
			began(strings.TrimPrefix(flow.IdempotencyKey(ctx), "run/"))
			return id, nil
		}, follow)
	}
	first, a, b, c, c2, join, loop := node("first"), node("a"), node("b"), node("c"), node("c2"), node("join"), node("loop")
	g.Edge(flow.START, first)
	g.Edge(first, a, b, c)
	g.Edge(c, c2)
	g.Join(join, a, b, c2)
	g.Edge(join, loop)
	g.Route(loop, func(s trail) flow.Ref {
		if len(s.Path) < 10 {
			return loop
		}
		return flow.END
	}, loop, flow.END)
	return g.Compile()
}

// crashChild is the process that dies. It reports whether this is one.
func crashChild() bool {
	dir, deadline, ok := strings.Cut(os.Getenv(crashEnv), "\n")
	if !ok {
		return false
	}
	n, err := strconv.Atoi(deadline)
	if err == nil {
		err = crashRun(dir, n)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

func crashRun(dir string, deadline int) error {
	var mu sync.Mutex
	happens := func() { // one more event; the last one kills
		mu.Lock()
		defer mu.Unlock()
		if deadline--; deadline == 0 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err == nil {
				select {}
			}
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c, err := crashFlow(func(visit string) {
		_, _ = fmt.Fprintln(log, visit)
		happens()
	})
	if err != nil {
		return err
	}
	opts := []flow.RunOption{flow.WithStore(&fileStore{dir: dir}), flow.OnEvent(func(context.Context, flow.Event) { happens() })}
	res, err := c.Run(context.Background(), "run", trail{}, opts...)
	if errors.Is(err, flow.ErrRunExists) {
		res, err = c.Resume(context.Background(), "run", opts...)
	}
	if errors.Is(err, flow.ErrFinished) { // it died after the last checkpoint
		cp, err := (&fileStore{dir: dir}).Load(context.Background(), "run")
		var in struct{ State trail }
		if err := errors.Join(err, json.Unmarshal(cp.Data, &in)); err != nil {
			return err
		}
		fmt.Print(strings.Join(in.State.Path, " "))
		return nil
	}
	fmt.Print(strings.Join(res.State.Path, " "))
	return err
}

// storedVisits lists what the last checkpoint says is completed.
func storedVisits(t *testing.T, dir string) map[string]bool {
	t.Helper()
	visits := map[string]bool{}
	cp, err := (&fileStore{dir: dir}).Load(t.Context(), "run")
	if errors.Is(err, flow.ErrUnknownRun) {
		return visits
	}
	type visit struct {
		Node         string
		Visit, Phase int
	}
	var in struct{ Done, Front []visit }
	if err := errors.Join(err, json.Unmarshal(cp.Data, &in)); err != nil {
		t.Fatal(err)
	}
	for _, v := range in.Front {
		if v.Phase == 1 {
			in.Done = append(in.Done, v)
		}
	}
	for _, v := range in.Done {
		for n := 1; n <= v.Visit; n++ {
			visits[fmt.Sprintf("%s/%d", v.Node, n)] = true
		}
	}
	return visits
}

func TestKilledProcessIsResumed(t *testing.T) {
	t.Parallel()
	rounds := 5
	if os.Getenv("A2AEXEC_LONG") != "" {
		rounds = 50
	}
	calm, err := crashFlow(func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	want := must(calm.Run(t.Context(), "run", trail{}))(t).State.Path
	for range rounds {
		dir := t.TempDir()
		for died := true; died; {
			completed := storedVisits(t, dir)
			before, _ := os.ReadFile(filepath.Join(dir, "log"))
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d", crashEnv, dir, 2+rand.IntN(40)))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			died = errors.As(err, &exit) && exit.ExitCode() == -1
			if err != nil && !died {
				t.Fatalf("%v: %s", err, out)
			}
			after, _ := os.ReadFile(filepath.Join(dir, "log"))
			for visit := range strings.Lines(string(bytes.TrimPrefix(after, before))) {
				if completed[strings.TrimSpace(visit)] {
					t.Errorf("%s ran again", visit)
				}
			}
			if !died && !cmp.Equal(strings.Fields(string(out)), want) {
				t.Errorf("got %s, want %v", out, want)
			}
		}
	}
}
