package flow

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/hitl"
)

// session is the part of a run that does not depend on S.
type session struct {
	trace
	cfg    *config
	id     string
	step   int
	base   base
	frames []frame // a stock of them; none is used twice
	used   int     // of the stock
	hookMu sync.Mutex

	// mu guards what nodes reach while they run: the fields below and, if there
	// is a store, all that a checkpoint is made of.
	mu      sync.Mutex
	answers map[string]json.RawMessage // by id of the question
	effects map[string]*effect         // by node/visit/key
	persist func(context.Context) error
	broken  error // why the run cannot go on, though no node failed
	brokeBy int32 // the node at which that was noticed
}

// base is what the frames of a run, or of one frontier, have in common.
type base struct {
	context.Context //nolint:containedctx // part of a context
	s               *session
	run             context.Context //nolint:containedctx // that of the run, which no sibling cancels

	asking atomic.Pointer[context.Context] // see value
}

// value is Context.Value in a context in which questions can be asked. That is
// made when a node first looks for something.
func (b *base) value(key any) any {
	ctx := b.asking.Load()
	if ctx == nil {
		asking := hitl.WithAsker(b.Context, b.s)
		ctx = &asking
		b.asking.Store(ctx)
	}
	return (*ctx).Value(key)
}

// frame is the context of one visit of a node. There is one for each visit, so
// it is small.
type frame struct {
	*base
	node  int32
	visit int32 // negative once the visit is over; by atomic access then
}

// close ends the visit: nothing more can be asked or caused in its name.
func (f *frame) close() { atomic.StoreInt32(&f.visit, -atomic.LoadInt32(&f.visit)) }

func (f *frame) closed() bool { return atomic.LoadInt32(&f.visit) < 0 }

type frameKey struct{}

// Value implements context.Context.
func (f *frame) Value(key any) any {
	if key == (frameKey{}) {
		return f
	}
	return f.value(key)
}

// frameOf finds the visit that ctx belongs to, if it is not over.
func frameOf(ctx context.Context) (*frame, error) {
	f, ok := ctx.Value(frameKey{}).(*frame)
	if !ok || f.closed() {
		return nil, ErrNotInNode
	}
	return f, nil
}

// enter makes the context of a visit. Only the scheduler calls it.
func (s *session) enter(b *base, node int32) *frame {
	p := &s.nodes[node]
	f := &p.first
	if f.base != nil {
		f = s.another()
	}
	f.base, f.node, f.visit = b, node, p.visits
	return f
}

// another is a frame for a visit that is not the node's first.
func (s *session) another() *frame {
	if s.used == len(s.frames) {
		s.frames = make([]frame, min(max(16, 2*s.used), 128))
		s.used = 0
	}
	s.used++
	return &s.frames[s.used-1]
}

// scope is where the keys of a visit are: node/visit/.
func (s *session) scope(node, visit int32) string {
	return s.core.metas[node].id + "/" + strconv.Itoa(int(visit)) + "/"
}

func (f *frame) key(key string) string { return f.s.scope(f.node, f.number()) + key }

// number is the visit's, over or not.
func (f *frame) number() int32 {
	n := atomic.LoadInt32(&f.visit)
	return max(n, -n)
}

// IdempotencyKey is a text that is the same whenever this visit of the node
// runs, over retries and resumes, and differs from that of any other visit and run. Hand
// it to services that do a thing only once per key. Outside of a running node
// it is "".
func IdempotencyKey(ctx context.Context) string {
	f, err := frameOf(ctx)
	if err != nil {
		return ""
	}
	return f.s.id + "/" + f.s.core.metas[f.node].id + "/" + strconv.Itoa(int(f.number()))
}

// Answer implements hitl.Asker.
func (s *session) Answer(ctx context.Context, key string) (id string, value any, answered bool, err error) {
	f, err := frameOf(ctx)
	if err != nil {
		return "", nil, false, err
	}
	id = s.id + "/" + f.key(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, answered := s.answers[id]
	return id, raw, answered, nil
}

var _ hitl.Asker = (*session)(nil)
