package flow

import "sync"

// draft is the text of a run's last checkpoint. The next one keeps its
// beginning, since most often some completed nodes were only added.
type draft struct {
	buf  []byte
	head int // how much of it names the run
	done int // how much of it is also about the first n completed nodes, 0: none
	n    int
}

// drafts keeps them for other runs.
var drafts = sync.Pool{New: func() any { return &draft{buf: make([]byte, 0, 1024)} }}

// maxDraft is how large a draft may be to be kept.
const maxDraft = 64 << 10

// letGo hands the draft to other runs.
func (r *run[S]) letGo() {
	if r.store == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.store.text; d != nil && cap(d.buf) <= maxDraft {
		clear(d.buf[:cap(d.buf)]) // it may hold secrets
		*d = draft{buf: d.buf[:0]}
		drafts.Put(d)
	}
	r.store.text = nil
}

// write makes the JSON that package restore.go reads. It is written by hand
// because it is written after every node.
func (r *run[S]) write(seq uint64, st status) error {
	d := r.store.text
	if d == nil {
		d, _ = drafts.Get().(*draft)
		r.store.text = d
	}
	w := writer{buf: d.buf}
	_, w.plain = r.cfg.codec.(jsonCodec)
	if d.head == 0 {
		w.buf = append(w.buf[:0], r.core.head...)
		w.text(`,"run":`, r.id)
		w.flag(`,"plain":true`, w.plain)
		w.buf = append(w.buf, `,"done":[`...)
		d.head = len(w.buf)
	}
	d.completed(&w, &r.trace)
	w.buf = append(w.buf, ']')
	w.number(`,"seq":`, seq)
	w.buf = append(append(append(w.buf, `,"status":"`...), st...), '"')
	w.number(`,"step":`, uint64(r.step)) //nolint:gosec // never negative
	w.flag(`,"merged":true`, r.merged)
	w.flag(`,"ended":true`, r.ended)
	if r.retries > 0 {
		w.number(`,"retries":`, uint64(r.retries)) //nolint:gosec // never negative
	}
	w.value(`,"state":`, r.store.state)
	w.front(&r.trace, r.front)
	w.joins(r.core, r.waiting)
	w.extras(&r.session)
	w.buf = append(w.buf, '}')
	d.buf = w.buf
	return w.err
}

// completed makes w's text the head and the completed nodes.
func (d *draft) completed(w *writer, t *trace) {
	if d.done == 0 || t.revised {
		d.done, d.n, t.revised = d.head, 0, false
	}
	w.buf = w.buf[:d.done]
	for ; d.n < len(t.order); d.n++ {
		if d.n > 0 {
			w.buf = append(w.buf, ',')
		}
		m, p := t.core.metas[t.order[d.n]], &t.nodes[t.order[d.n]]
		w.visit(m, p.visit)
		if data := p.known().data; data != nil && !m.noArtifact {
			w.value(`,"out":`, data)
		}
		w.buf = append(w.buf, '}')
	}
	d.done = len(w.buf)
}
