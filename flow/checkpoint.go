package flow

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// status is what a checkpoint says about a run.
type status string

const (
	statusRunning status = "running"
	statusPaused  status = "paused"
	statusFailed  status = "failed"
	statusDone    status = "done"
)

// checkpoints is what a run remembers from one checkpoint to the next.
type checkpoints struct {
	seq   uint64
	head  []byte // what all of them begin with
	state []byte // the state as stored, nil if it is to be encoded
	buf   []byte // where they are written
	done  keptDone
	ctx   context.Context //nolint:containedctx // that of the run, but it does not end: what was done is to be kept
}

// save makes a checkpoint if there is a store.
func (r *run[S]) save(ctx context.Context, st status) error {
	if r.cfg.store == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.saveLocked(ctx, st)
}

// saveRunning is session.persist.
func (r *run[S]) saveRunning(ctx context.Context) error { return r.saveLocked(ctx, statusRunning) }

// saveLocked saves even if ctx has ended: what was done is to be kept. The
// caller holds mu.
func (r *run[S]) saveLocked(ctx context.Context, st status) error {
	if r.broken != nil {
		return r.broken // the store may have gone on without this run
	}
	if r.store.state == nil {
		data, err := encode(r.cfg.codec, &r.state)
		if err != nil {
			return &StoreError{Op: "encode", Err: err}
		}
		r.store.state = data
	}
	c := Checkpoint{Run: r.id, Seq: r.store.seq + 1, Keep: r.cfg.keep}
	var err error
	if r.store.buf, err = r.appendCheckpoint(r.store.buf[:0], c.Seq, st); err != nil {
		return &StoreError{Op: "encode", Err: err}
	}
	c.Data = bytes.Clone(r.store.buf)                        // the store may keep it
	if err := put(r.store.ctx, r.cfg.store, c); err != nil { //nolint:contextcheck // see there
		return &StoreError{Op: "save", Err: err}
	}
	r.store.seq++
	if r.cfg.hook == nil {
		return nil
	}
	return r.emit(ctx, Event{Kind: RunSaved, Seq: r.store.seq})
}

// put is Store.Save with panics contained.
func put(ctx context.Context, s Store, c Checkpoint) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return s.Save(ctx, c)
}

// discard removes the checkpoints of a run that has ended well.
func (r *run[S]) discard(ctx context.Context) error {
	if r.cfg.store == nil || !r.cfg.discard {
		return nil
	}
	err := contain(func() error { return r.cfg.store.Delete(context.WithoutCancel(ctx), r.id) })
	if err != nil {
		return &StoreError{Op: "delete", Err: err}
	}
	return nil
}

// encodeOutput is an output as it is stored, nil if there is no store.
func (r *run[S]) encodeOutput(out any) ([]byte, error) {
	if r.cfg.store == nil {
		return nil, nil
	}
	data, err := encode(r.cfg.codec, out)
	if err != nil {
		return nil, &StoreError{Op: "encode", Err: err}
	}
	return data, nil
}

// appendCheckpoint writes the JSON that package restore.go reads. It is written
// by hand because it is written after every node.
func (r *run[S]) appendCheckpoint(b []byte, seq uint64, st status) ([]byte, error) {
	w := writer{buf: b}
	_, w.plain = r.cfg.codec.(jsonCodec)
	if r.store.head == nil {
		h := writer{buf: make([]byte, 0, len(r.core.head)+len(r.id)+32)}
		h.buf = append(h.buf, r.core.head...)
		h.text(`,"run":`, r.id)
		h.flag(`,"plain":true`, w.plain)
		r.store.head = h.buf
	}
	w.buf = append(w.buf, r.store.head...)
	w.number(`,"seq":`, seq)
	w.buf = append(append(append(w.buf, `,"status":"`...), st...), '"')
	w.number(`,"step":`, uint64(r.step)) //nolint:gosec // never negative
	w.flag(`,"merged":true`, r.merged)
	w.flag(`,"ended":true`, r.ended)
	if r.retries > 0 {
		w.number(`,"retries":`, uint64(r.retries)) //nolint:gosec // never negative
	}
	w.value(`,"state":`, r.store.state)
	w.done(&r.trace, &r.store.done)
	w.front(&r.trace, r.front)
	w.joins(r.core, r.waiting)
	w.extras(&r.session)
	w.buf = append(w.buf, '}')
	return w.buf, w.err
}

// writer appends JSON.
type writer struct {
	buf   []byte
	plain bool // values are JSON themselves
	err   error
}

func (w *writer) flag(member string, yes bool) {
	if yes {
		w.buf = append(w.buf, member...)
	}
}

func (w *writer) number(member string, n uint64) {
	w.buf = strconv.AppendUint(append(w.buf, member...), n, 10)
}

func (w *writer) text(member, s string) { w.json(member, s) }

func (w *writer) json(member string, v any) {
	data, err := encode(jsonCodec{}, v)
	if err != nil {
		w.err = err
	}
	w.buf = append(append(w.buf, member...), data...)
}

// value appends what the codec made; bytes that are not JSON as base64.
func (w *writer) value(member string, data []byte) {
	if !w.plain {
		w.json(member, data)
		return
	}
	w.buf = append(append(w.buf, member...), data...)
}

func (w *writer) list(member string, n int, item func(i int)) {
	if n == 0 {
		return
	}
	w.buf = append(append(w.buf, member...), '[')
	for i := range n {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		item(i)
	}
	w.buf = append(w.buf, ']')
}

func (w *writer) visit(m *meta, visit int32) {
	w.buf = append(append(w.buf, `{"node":`...), m.quoted...)
	w.number(`,"visit":`, uint64(visit)) //nolint:gosec // never negative
}

// done appends the completed nodes. What it wrote last time is kept, since most
// often some were only added.
func (w *writer) done(t *trace, kept *keptDone) {
	if len(t.order) == 0 {
		return
	}
	last := writer{buf: kept.text, plain: w.plain}
	if last.buf == nil {
		last.buf = make([]byte, 0, 48*len(t.nodes))
	}
	if t.revised || len(last.buf) == 0 {
		last.buf, kept.n, t.revised = append(last.buf[:0], `,"done":[`...), 0, false
	}
	for ; kept.n < len(t.order); kept.n++ {
		if kept.n > 0 {
			last.buf = append(last.buf, ',')
		}
		m, p := t.core.metas[t.order[kept.n]], &t.nodes[t.order[kept.n]]
		last.visit(m, p.visit)
		if d := p.known(); d.data != nil && !m.noArtifact {
			last.value(`,"out":`, d.data)
		}
		last.buf = append(last.buf, '}')
	}
	kept.text = last.buf
	w.buf = append(append(w.buf, kept.text...), ']')
}

// keptDone is the text about the first n completed nodes.
type keptDone struct {
	n    int
	text []byte
}

func (w *writer) front(t *trace, front []int32) {
	w.list(`,"front":`, len(front), func(i int) {
		p := &t.nodes[front[i]]
		w.visit(t.core.metas[front[i]], p.visits)
		if p.phase != ready {
			w.number(`,"phase":`, uint64(p.phase))
		}
		w.flag(`,"tolerant":true`, p.tolerant)
		if p.details != nil {
			w.details(p.phase, p.details)
		}
		w.buf = append(w.buf, '}')
	})
}

func (w *writer) details(ph phase, d *details) {
	if d.retries > 0 {
		w.number(`,"retries":`, uint64(d.retries)) //nolint:gosec // never negative
	}
	if ph == done && d.made != nil {
		w.value(`,"out":`, d.made)
	}
	if ph == dropped {
		w.text(`,"error":`, errtree.Text(d.err))
	}
	w.list(`,"asks":`, len(d.asks), func(i int) {
		ask := d.asks[i]
		w.text(`{"id":`, ask.ID())
		w.text(`,"prompt":`, ask.Prompt())
		w.json(`,"data":`, ask.Data())
		w.buf = append(w.buf, '}')
	})
}

func (w *writer) joins(c *core, waiting []bool) {
	var ids []string
	for j, arrived := range waiting {
		if arrived {
			ids = append(ids, c.idOf(c.joins[j]))
		}
	}
	if len(ids) > 0 {
		w.json(`,"joins":`, ids)
	}
}

// extras are what most runs do not have.
func (w *writer) extras(s *session) {
	if len(s.answers)+len(s.effects)+len(s.failures) == 0 {
		return
	}
	if len(s.answers) > 0 {
		w.json(`,"answers":`, s.answers)
	}
	var keys []string
	for key, e := range s.effects {
		if e.ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	w.list(`,"effects":`, len(keys), func(i int) {
		w.text(`{"key":`, keys[i])
		w.value(`,"result":`, s.effects[keys[i]].data)
		w.buf = append(w.buf, '}')
	})
	w.list(`,"failures":`, len(s.failures), func(i int) {
		f := s.failures[i]
		w.text(`{"node":`, f.Node)
		w.number(`,"visit":`, uint64(f.Visit)) //nolint:gosec // never negative
		w.text(`,"error":`, errtree.Text(f.Err))
		w.buf = append(w.buf, '}')
	})
}
