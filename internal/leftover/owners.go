package leftover

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"weak"
)

// directory has the owners of this process by their names. It keeps none alive.
type directory struct {
	mu     sync.Mutex
	byName map[string][]*entry // the last to register first
}

type entry struct {
	owner any         // a weak.Pointer, to tell whose it is
	take  func() Take // nil when the owner is no more
}

var owners = directory{byName: map[string][]*entry{}}

// Register has memos of the name taken back by owner, for as long as that is
// reachable. Of several the last to register, or to register again, is asked
// first.
func Register[T any](name string, owner *T, take func(*T, context.Context, map[string]any) bool) {
	w := weak.Make(owner)
	e := &entry{owner: w, take: func() Take {
		o := w.Value()
		if o == nil {
			return nil
		}
		return func(ctx context.Context, memo map[string]any) bool { return take(o, ctx, memo) }
	}}
	if owners.add(name, e) {
		runtime.AddCleanup(owner, func(name string) { owners.remove(name, w) }, name)
	}
}

// add reports whether the owner is new.
func (d *directory) add(name string, e *entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := len(d.byName[name])
	rest := without(d.byName[name], e.owner)
	d.byName[name] = append([]*entry{e}, rest...)
	return len(rest) == had
}

func (d *directory) remove(name string, owner any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byName[name] = without(d.byName[name], owner); len(d.byName[name]) == 0 {
		delete(d.byName, name)
	}
}

func without(list []*entry, owner any) []*entry {
	return slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.owner == owner })
}

// mostAsked is how many owners of one name are asked.
const mostAsked = 4

func (d *directory) of(name string) []Take {
	d.mu.Lock()
	defer d.mu.Unlock()
	var takes []Take
	for _, e := range d.byName[name] {
		if take := e.take(); take != nil && len(takes) < mostAsked {
			takes = append(takes, take)
		}
	}
	return takes
}
