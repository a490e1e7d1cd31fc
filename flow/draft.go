package flow

import "sync"

// draft is the text of a run's last checkpoint. It grows at done, where each
// visit that completes is added; what comes after that is written each time.
type draft struct {
	buf   []byte
	done  int      // how much of it names the run and the completed visits
	n     int      // the completed visits
	plain bool     // values are JSON themselves
	state jsonText // if they are
}

// drafts keeps them for other runs.
var drafts = sync.Pool{New: func() any { return &draft{buf: make([]byte, 0, 1024)} }}

// maxDraft is how large a draft may be to be kept.
const maxDraft = 64 << 10

// newDraft begins a draft with what names the run.
func newDraft(s *session) *draft {
	d, _ := drafts.Get().(*draft)
	_, d.plain = s.cfg.codec.(jsonCodec)
	w := writer{buf: append(d.buf, s.core.head...), plain: d.plain}
	w.text(`,"run":`, s.id)
	w.flag(`,"coded":true`, !w.plain)
	d.buf = append(w.buf, `,"done":[`...)
	d.done = len(d.buf)
	return d
}

// letGo hands the draft to other runs.
func (r *run[S]) letGo() {
	if r.store == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.store.text; d != nil && cap(d.buf)+cap(d.state.text) <= maxDraft {
		clear(d.buf[:cap(d.buf)]) // it may hold secrets
		clear(d.state.text[:cap(d.state.text)])
		d.buf, d.done, d.n = d.buf[:0], 0, 0
		drafts.Put(d)
	}
	r.store.text = nil
}

// completed adds a visit whose output was applied.
func (d *draft) completed(m *meta, visit int32, out []byte) {
	w := writer{buf: d.buf[:d.done], plain: d.plain}
	if d.n > 0 {
		w.buf = append(w.buf, ',')
	}
	w.visit(m, visit)
	if out != nil {
		w.value(`,"out":`, out)
	}
	d.buf = append(w.buf, '}')
	d.done = len(d.buf)
	d.n++
}

// write makes the JSON that restore.go reads. It is written by hand because it
// is written after every node.
func (r *run[S]) write(st status) error {
	d := r.store.text
	w := writer{buf: append(d.buf[:d.done], ']'), plain: d.plain}
	if st != statusRunning {
		w.buf = append(append(append(w.buf, `,"status":"`...), st...), '"')
	}
	w.number(`,"step":`, uint64(r.step)) //nolint:gosec // never negative
	w.flag(`,"merged":true`, r.merged)
	w.flag(`,"ended":true`, r.ended)
	if r.retries > 0 {
		w.number(`,"retries":`, uint64(r.retries)) //nolint:gosec // never negative
	}
	w.value(`,"state":`, r.store.state)
	w.front(&r.trace, r.front, r.merged)
	w.joins(r.core, r.waiting)
	w.extras(&r.session)
	w.buf = append(w.buf, '}')
	d.buf = w.buf
	return w.err
}
