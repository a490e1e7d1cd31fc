package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Nested is what a node does that runs another flow: it begins the inner flow
// with the state that begin makes of the outer one, and its output is the
// inner flow's last state.
//
//	flow.Node(g, "check", "flow", flow.Nested(inner, begin), apply, flow.NoArtifact())
//
// The inner run is a part of the node's visit, and its checkpoints are a part of
// the outer run's. Its id is the outer run's with the node and the visit. Its
// questions pause the outer run, which is resumed with the answers; when the
// node runs again, also as it is retried, the inner run goes on where it was, and
// its completed nodes do not run again. Only what is stored can go on: in a run
// without a store, a retried node begins the inner flow anew. When the inner run fails, the outer [NodeError] names the
// node, its cause is the inner NodeError, and its value is the inner state so
// far. The inner flow's own limits count; the outer run's store, codec and hook
// are the inner run's, too.
//
// A node may call the function several times, one after the other; each call is
// a run of its own, told apart by its number, so a node that runs again must make
// the same calls in the same order: it fails where the flow is not the one that
// ran as that call before. The function fails with [ErrNotInNode] where no node
// runs, and when it is called twice at once in one visit. Without an inner flow or
// begin it is nil.
func Nested[S, T any](inner *Compiled[T], begin func(S) T) Func[S, T] {
	if inner == nil || begin == nil {
		return nil
	}
	return func(ctx context.Context, s S) (T, error) {
		f, err := frameOf(ctx)
		if err != nil {
			var none T
			return none, err
		}
		return inner.within(ctx, f, func() T { return begin(s) })
	}
}

// within runs or resumes the flow as a part of a visit.
func (c *Compiled[T]) within(ctx context.Context, f *frame, begin func() T) (T, error) {
	var none T
	store, err := f.nest()
	if err != nil {
		return none, err
	}
	defer store.leave()
	if err := store.check(c.name); err != nil {
		return none, err
	}
	nested := RunOption{func(cfg *config) string { store.configure(cfg); return "" }}
	var res Result[T]
	if store.data == nil {
		res, err = c.Run(ctx, store.id, begin(), nested)
	} else {
		res, err = c.Resume(ctx, store.id, nested)
	}
	store.count(res.Retries())
	switch {
	case err != nil:
		return res.State, err
	case res.Paused():
		asks := make([]error, len(res.Asks()))
		for i, ask := range res.Asks() {
			asks[i] = ask
		}
		return none, errors.Join(asks...)
	default:
		return res.State, nil
	}
}

// nest is the store of a run that is nested in a visit. It keeps the run's
// checkpoint among the effects of the visit.
type nest struct {
	f       *frame
	key, id string // of the effect, of the run
	call    int    // its number in the visit
	data    []byte // the last checkpoint, nil if there is none
	retries int    // that the outer run has counted already
}

// nested is the key of the first checkpoint. [Once] takes no empty one.
const nested = ""

var errNestedTwice = errors.New("flow: a nested flow runs in this visit already")

// nest makes the visit's next nested run the caller's.
func (f *frame) nest() (*nest, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed() {
		return nil, ErrNotInNode
	}
	first := f.effect(f.key(nested))
	if first.settled != nil {
		return nil, errNestedTwice
	}
	first.calls++
	n := &nest{f: f, key: f.key(nested), id: f.visitID(), call: first.calls}
	if n.call > 1 {
		again := strconv.Itoa(n.call)
		n.key, n.id = n.key+nestedAgain+again, n.id+"//"+again // no node's id is empty
	}
	e := f.effect(n.key)
	if e.data == nil {
		e.retries = 0 // it begins again
	}
	first.settled, n.data, n.retries = make(chan struct{}), e.data, e.retries
	return n, nil
}

// nestedAgain begins the key of later ones, and no key that [Once] makes: see
// plain.Key.
const nestedAgain = "\uFFFD#"

// effect finds an effect or makes one. The caller holds mu.
func (f *frame) effect(key string) *effect {
	if f.s.effects == nil {
		f.s.effects = map[string]*effect{}
	}
	e := f.s.effects[key]
	if e == nil {
		e = &effect{}
		f.s.effects[key] = e
	}
	return e
}

// recount lets the next attempt of the visit begin with the first nested run.
func (f *frame) recount() {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if e := f.s.effects[f.key(nested)]; e != nil {
		e.calls = 0
	}
}

// check refuses to go on with the run of another flow.
func (n *nest) check(name string) error {
	if n.data == nil {
		return nil
	}
	var before struct {
		Flow string `json:"flow"`
	}
	_ = json.Unmarshal(n.data, &before) // what is wrong with it is seen when it is resumed
	if before.Flow == "" || before.Flow == name {
		return nil
	}
	return fmt.Errorf("flow: nested run %d of this visit was one of flow %q before, and now is one of %q: a node must run nested flows in the same order each time",
		n.call, before.Flow, name)
}

// leave lets the visit's next call have a nested run.
func (n *nest) leave() {
	n.f.s.mu.Lock()
	defer n.f.s.mu.Unlock()
	if e := n.f.s.effects[n.f.key(nested)]; e != nil {
		e.settled = nil
	}
}

// count adds the retries of the nested run to those of the outer one.
func (n *nest) count(retries int) {
	n.f.s.mu.Lock()
	defer n.f.s.mu.Unlock()
	if e := n.f.s.effects[n.key]; e != nil && !n.f.closed() {
		n.f.s.retries += retries - e.retries
		e.retries = retries
	}
}

// configure makes the nested run one of the outer run's.
func (n *nest) configure(cfg *config) {
	outer := n.f.s.cfg
	cfg.nest, cfg.discard, cfg.keep = n, false, 1
	cfg.store, cfg.hook = nil, nil
	cfg.codec, cfg.anyway, cfg.isolated = outer.codec, outer.anyway, outer.isolated
	if outer.store != nil {
		cfg.store = n
	}
	if outer.hook != nil {
		cfg.hook = func(_ context.Context, e Event) {
			n.f.s.hookMu.Lock()
			defer n.f.s.hookMu.Unlock()
			if n.f.closed() {
				return
			}
			outer.hook(n.f.run, e) //nolint:contextcheck // the outer one is meant
		}
	}
}

// answer is what the outer run was told about a question of the nested one.
func (n *nest) answer(id string) (data []byte, ok bool) {
	n.f.s.mu.Lock()
	defer n.f.s.mu.Unlock()
	data, ok = n.f.s.answers[id]
	return data, ok
}

// Load implements Store.
func (n *nest) Load(context.Context, string) (Checkpoint, error) {
	return Checkpoint{Run: n.id, Seq: 1, Data: n.data}, nil
}

// Save implements Store: it saves the outer run.
func (n *nest) Save(_ context.Context, c Checkpoint) error {
	s := n.f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.effects[n.key]
	if n.f.closed() || e == nil {
		return ErrNotInNode
	}
	before := *e
	e.ok, e.data = true, c.Data
	err := s.saveEffect(e, before)
	if err != nil {
		s.breaks(n.f.node, err)
	}
	return err
}

// Delete implements Store. The checkpoint goes with the visit.
func (*nest) Delete(context.Context, string) error { return nil }

// visitID names the visit: it is the idempotency key, and the id of a run that
// is nested in it.
func (f *frame) visitID() string {
	return visitID(f.s.id, f.s.core.metas[f.node].id, int(f.number()))
}

func visitID(run, node string, visit int) string { return run + "/" + node + "/" + strconv.Itoa(visit) }
