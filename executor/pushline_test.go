package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

// TestLinesAreBounded: a full line loses its oldest, so that the last event
// arrives; a task without one loses the new.
func TestLinesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLines(3)
		release := make(chan struct{})
		var mu sync.Mutex
		var done []string
		put := func(task string, n int) int {
			return l.add(a2a.TaskID(task), func(<-chan struct{}) {
				<-release
				mu.Lock()
				defer mu.Unlock()
				done = append(done, fmt.Sprint(task, n))
			})
		}
		var dropped int
		for i := range 10 {
			dropped += put("a", i)
			synctest.Wait() // the first is in hand by then
		}
		if put("b", 0) != 1 || dropped != 6 {
			t.Errorf("dropped %d", dropped)
		}
		l.addLast("b", func(<-chan struct{}) {})
		close(release)
		if lost := l.drain(t.Context()); lost != 0 {
			t.Errorf("lost %d", lost)
		}
		if diff := cmp.Diff([]string{"a0", "a7", "a8", "a9"}, done); diff != "" {
			t.Errorf("done (-want +got):\n%s", diff)
		}
		if put("a", 11) != 1 || len(l.byTask) != 0 || l.waiting != 0 {
			t.Error("takes work after it was drained")
		}
	})
}

func TestLinesKeepTheOrderOfEachTask(t *testing.T) {
	t.Parallel()
	l := newLines(10_000)
	var mu sync.Mutex
	got := map[int][]int{}
	var wg sync.WaitGroup
	for task := range 10 {
		wg.Go(func() {
			for n := range 100 {
				l.add(a2a.TaskID(fmt.Sprint(task)), func(<-chan struct{}) {
					mu.Lock()
					defer mu.Unlock()
					got[task] = append(got[task], n)
				})
			}
		})
	}
	wg.Wait()
	if lost := l.drain(t.Context()); lost != 0 {
		t.Errorf("lost %d", lost)
	}
	for task, ns := range got {
		if len(ns) != 100 || !slices.IsSorted(ns) {
			t.Errorf("task %d: %v", task, ns)
		}
	}
}

func TestLinesDropWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLines(100)
		for i := range 5 {
			for range 3 {
				l.add(a2a.TaskID(fmt.Sprint(i)), func(stop <-chan struct{}) { <-stop })
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if lost := l.drain(ctx); lost != 15 {
			t.Errorf("lost %d, want 15", lost)
		}
		synctest.Wait()
	})
}
