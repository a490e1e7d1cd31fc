package leftover_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/internal/leftover"
)

func memo(owner, thing string) map[string]any {
	return map[string]any{leftover.Owner: owner, leftover.Thing: thing}
}

// shelf notes what was taken back.
type shelf struct {
	mu    sync.Mutex
	taken []string
	no    bool // it cannot take anything back
	name  string
}

func (s *shelf) take(_ context.Context, m map[string]any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, s.name+fmt.Sprint(m[leftover.Thing]))
	return !s.no
}

func (s *shelf) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.taken))
}

// TestTakeBack: what a run left, and what memos tell of, but not what is gone.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	const owner = "TestTakeBack"
	byMemo, byRun := &shelf{name: "memo "}, &shelf{name: "run "}
	leftover.Register(owner, byMemo, (*shelf).take)
	ctx := leftover.New(t.Context())
	leftover.Add(ctx, memo(owner, "1"), byRun.take)
	leftover.Add(ctx, memo(owner, "2"), byRun.take)
	leftover.Gone(ctx, memo(owner, "2"))
	leftover.Gone(ctx, memo(owner, "3"))
	leftover.TakeBack(ctx, map[string]any{
		"a": memo(owner, "1"), "b": memo(owner, "3"), "c": memo(owner, "4"), "d": memo("", "5"), "e": "else", "f": memo("nobody", "6"),
	})
	leftover.Add(ctx, memo(owner, "7"), byRun.take) // too late
	if diff := cmp.Diff([]string{"run 1", "run 7"}, byRun.got()); diff != "" {
		t.Errorf("of the run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"memo 4"}, byMemo.got()); diff != "" {
		t.Errorf("of memos (-want +got):\n%s", diff)
	}
	runtime.KeepAlive(byMemo)
}

// TestTakeBackOthers: a parked task keeps what its memos tell of, whoever comes
// late.
func TestTakeBackOthers(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	ctx := leftover.New(t.Context())
	for _, thing := range []string{"1", "2", "3"} {
		leftover.Add(ctx, memo("o", thing), s.take)
	}
	leftover.TakeBackOthers(ctx, map[string]any{"a": memo("o", "1")}, nil, map[string]any{"b": memo("o", "2")})
	leftover.Add(ctx, memo("o", "2"), s.take)
	leftover.Add(ctx, memo("o", "4"), s.take)
	if diff := cmp.Diff([]string{"3", "4"}, s.got()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwners: the last to register is asked first, another where it cannot, and
// none is kept alive.
func TestOwners(t *testing.T) {
	t.Parallel()
	const owner = "TestOwners"
	one, two := &shelf{}, &shelf{no: true}
	leftover.Register(owner, one, (*shelf).take)
	leftover.Register(owner, two, (*shelf).take)
	memos := map[string]any{"a": memo(owner, "1")}
	leftover.TakeBack(t.Context(), memos)
	leftover.Register(owner, one, (*shelf).take) // again
	leftover.TakeBack(t.Context(), memos)
	if len(one.got()) != 2 || len(two.got()) != 1 {
		t.Errorf("got %q and %q", one.got(), two.got())
	}

	gone := make(chan struct{})
	func() {
		third := &shelf{}
		runtime.AddCleanup(third, func(c chan struct{}) { close(c) }, gone)
		leftover.Register(owner, third, func(*shelf, context.Context, map[string]any) bool {
			t.Error("an owner that is no more was asked")
			return true
		})
	}()
	for collected := false; !collected; {
		runtime.GC()
		select {
		case <-gone:
			collected = true
		default:
			runtime.Gosched()
		}
	}
	leftover.TakeBack(t.Context(), memos)
	if len(one.got()) != 3 {
		t.Errorf("got %q", one.got())
	}
}

func TestMoveOn(t *testing.T) {
	t.Parallel()
	ctx, other := leftover.New(t.Context()), leftover.New(t.Context())
	leftover.MoveOn(ctx)
	if !leftover.MovedOn(context.WithoutCancel(ctx)) || leftover.MovedOn(other) {
		t.Error("the task of the wrong run goes on elsewhere")
	}
}

func TestOutsideOfARun(t *testing.T) {
	t.Parallel()
	if leftover.MoveOn(t.Context()); leftover.MovedOn(t.Context()) {
		t.Error("something was noted")
	}
	s := &shelf{}
	leftover.Add(t.Context(), memo("o", "1"), s.take)
	leftover.Gone(t.Context(), memo("o", "1"))
	leftover.TakeBackOthers(t.Context(), nil)
	if len(s.got()) > 0 {
		t.Errorf("got %q", s.got())
	}
}
