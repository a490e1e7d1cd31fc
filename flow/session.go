package flow

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// session is the part of a run that does not depend on S.
type session struct {
	trace
	cfg  *config
	id   string
	step int
	base base
	used atomic.Bool // a node has looked for its frame

	// mu guards what nodes reach while they run: the effects, what is aside and,
	// if there is a store, all that a checkpoint is made of.
	mu      sync.Mutex
	effects map[string]*effect // by node/visit/key
}

// aside is what a run on the plain path does not need. It is apart to keep such
// a run small.
type aside struct {
	next     []task                     // the frontier that is being made
	waiting  []bool                     // the joins at which something arrived
	answers  map[string]json.RawMessage // by id of the question
	memos    map[string]map[string]any  // of answered questions, by id
	asks     []*hitl.Interrupt          // that are open
	failures []*NodeError               // that were tolerated
	lost     [][]byte                   // the same as they are stored, if there is a store
	store    *checkpoints               // nil if there is none
	saver    saver                      // likewise
	tasks    [2]task                    // for frontiers of one
	hookMu   sync.Mutex
	misled   error // what the plain path came to at a route
	broken   error // why the run cannot go on, though no node failed
	brokeBy  int32 // the node at which that was noticed
}

// saver saves a run that is under way. The caller holds mu.
type saver interface{ saveRunning() error }

// nothing stands for what is aside of a run that has none. It is only read.
var nothing = &aside{}

// own makes what is aside of a run. A node that has just failed may have left
// somebody behind who looks there, with the lock.
func (s *session) own() {
	if s.aside != nothing {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = &aside{}
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
	if !ok {
		return nil, ErrNotInNode
	}
	f.s.used.Store(true) // before it is looked whether the frame is closed: see drain
	if f.closed() {
		return nil, ErrNotInNode
	}
	return f, nil
}

// shut ends a visit in whose name nothing happens any more.
func (s *session) shut(f *frame) {
	f.close()
	if s.used.Load() {
		s.drain()
	}
	s.hush()
}

// drain waits for what is being done in the name of a visit that was closed.
// Whoever gets the lock later finds it closed.
func (s *session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

// hush waits for the hook to be told what is being written by a visit that was
// closed.
func (s *session) hush() {
	if s.cfg.hook != nil {
		s.hookMu.Lock()
		s.hookMu.Unlock() //nolint:staticcheck // to have waited is all
	}
}

// enter makes the context of a node's visit.
func (s *session) enter(b *base, node, visit int32) *frame {
	f := s.another()
	f.base, f.node, f.visit = b, node, visit
	return f
}

// scope is where the keys of a visit are: node/visit/.
func (s *session) scope(node, visit int32) string {
	return s.core.metas[node].id + "/" + strconv.Itoa(int(visit)) + "/"
}

func (f *frame) key(key string) string { return f.s.scope(f.node, f.number()) + plain.Key(key) }

// IdempotencyKey is a text that is the same whenever this visit of the node
// runs, over retries and resumes, and differs from that of any other visit and run. Hand
// it to services that do a thing only once per key. Outside of a running node
// it is "".
func IdempotencyKey(ctx context.Context) string {
	f, err := frameOf(ctx)
	if err != nil {
		return ""
	}
	return f.visitID()
}

// Answer implements hitl.Asker.
func (s *session) Answer(ctx context.Context, key string) (id string, value any, answered bool, err error) {
	f, err := frameOf(ctx)
	if err != nil {
		return "", nil, false, err
	}
	id = f.askID(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, answered := s.answers[id]
	return id, raw, answered, nil
}

// askID is the id of the question that a visit calls key. With a slash in it, it
// could be that of a question which a flow nested in the visit asks.
func (f *frame) askID(key string) string { return f.s.id + "/" + f.key(withoutSlash.Replace(key)) }

var withoutSlash = strings.NewReplacer("%", "%25", "/", "%2F")

// Recall implements hitl.Rememberer.
func (s *session) Recall(ctx context.Context, key string) (map[string]any, error) {
	f, err := frameOf(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	memo := s.memos[f.askID(key)]
	if memo == nil {
		return nil, nil
	}
	memo, _ = plain.Map(memo) // a copy
	return memo, nil
}

var (
	_ hitl.Asker      = (*session)(nil)
	_ hitl.Rememberer = (*session)(nil)
)
