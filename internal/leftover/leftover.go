// Package leftover takes back what a task of an agent has left elsewhere, such
// as the task of another agent that asks, when nobody will come for it.
//
// A memo (hitl.Memo) tells what was left: it is kept with the parked task and
// outlives the process. Whoever can take it back is found by the name that the
// memo has under [Owner], see [Register].
package leftover

import (
	"context"
	"maps"
	"sync"
)

// The members of a memo that tell one thing that was left from another.
const (
	Owner = "agent" // the name of who can take it back
	Thing = "task"  // what it is called there
)

// Take takes back what a memo tells of. It reports whether nothing is left.
type Take func(ctx context.Context, memo map[string]any) (done bool)

type id struct{ owner, thing string }

// idOf gives false for a memo of something else.
func idOf(memo map[string]any) (id, bool) {
	owner, _ := memo[Owner].(string)
	thing, _ := memo[Thing].(string)
	return id{owner, thing}, owner != "" && thing != ""
}

// list is what one run has left.
type list struct {
	mu   sync.Mutex
	open map[id]left
	gone map[id]bool
	over map[id]left // what is kept beyond the run, once that is over; else nil
	away bool        // see MoveOn
}

type left struct {
	memo map[string]any
	take Take // nil where the owner is yet to be found
}

type key struct{}

// New returns a context with an empty list, for one run of an agent's code.
func New(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, &list{})
}

func listOf(ctx context.Context) *list {
	l, _ := ctx.Value(key{}).(*list)
	return l
}

// Add notes that the run of ctx has left something, and how to take it back. If
// the run is over it takes it back.
func Add(ctx context.Context, memo map[string]any, take Take) {
	l, at, ok := find(ctx, memo)
	if !ok || l.add(at, left{memo, take}) {
		return
	}
	take(context.WithoutCancel(ctx), memo)
}

// add reports false where nobody will look at the list again.
func (l *list) add(at id, what left) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		_, kept := l.over[at]
		return kept
	}
	if l.open == nil {
		l.open = map[id]left{}
	}
	l.open[at] = what
	return true
}

// Gone notes that of what a memo tells of nothing is left.
func Gone(ctx context.Context, memo map[string]any) {
	l, at, ok := find(ctx, memo)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, at)
	if l.gone == nil {
		l.gone = map[id]bool{}
	}
	l.gone[at] = true
}

// MoveOn notes that the run of ctx is stopped although its task is not at an
// end: whoever goes on with that, another process perhaps, needs what the memos tell of.
func MoveOn(ctx context.Context) {
	if l := listOf(ctx); l != nil {
		l.mu.Lock()
		l.away = true
		l.mu.Unlock()
	}
}

// MovedOn tells whether that was noted.
func MovedOn(ctx context.Context) bool {
	l := listOf(ctx)
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

func find(ctx context.Context, memo map[string]any) (*list, id, bool) {
	l := listOf(ctx)
	at, ok := idOf(memo)
	return l, at, ok && l != nil
}

// TakeBack takes back what the run of ctx has left, if ctx is a run's, and what
// the memos of its task tell of. The run is over. It waits until that is done.
func TakeBack(ctx context.Context, memos map[string]any) {
	all := kept(memos)
	if l := listOf(ctx); l != nil {
		l.mu.Lock()
		for at := range l.gone {
			delete(all, at)
		}
		maps.Copy(all, l.open)
		l.over = map[id]left{}
		l.mu.Unlock()
	}
	takeBack(ctx, all)
}

// TakeBackOthers takes back what the run of ctx, which is over, has left and
// none of the memos that its parked task keeps tells of.
func TakeBackOthers(ctx context.Context, memos ...map[string]any) {
	l := listOf(ctx)
	if l == nil {
		return
	}
	over := map[id]left{}
	for _, m := range memos {
		maps.Copy(over, kept(m))
	}
	all := map[id]left{}
	l.mu.Lock()
	for at, what := range l.open {
		if _, ok := over[at]; !ok {
			all[at] = what
		}
	}
	l.over = over
	l.mu.Unlock()
	takeBack(ctx, all)
}

// kept are the things that memos tell of.
func kept(memos map[string]any) map[id]left {
	all := map[id]left{}
	for _, m := range memos {
		memo, _ := m.(map[string]any)
		if at, ok := idOf(memo); ok {
			all[at] = left{memo: memo}
		}
	}
	return all
}

// atOnce is how many things are taken back at once.
const atOnce = 16

func takeBack(ctx context.Context, all map[id]left) {
	var group sync.WaitGroup
	defer group.Wait()
	places := make(chan struct{}, atOnce)
	for at, what := range all {
		takes := []Take{what.take}
		if what.take == nil {
			takes = owners.of(at.owner)
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			for _, take := range takes {
				if ctx.Err() != nil || take(ctx, what.memo) {
					return
				}
			}
		})
	}
}
