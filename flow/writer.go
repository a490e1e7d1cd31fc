package flow

import (
	"slices"
	"strconv"
)

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

// text appends a string.
func (w *writer) text(member, s string) {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			w.json(member, s)
			return
		}
	}
	w.buf = append(append(append(append(w.buf, member...), '"'), s...), '"')
}

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
	w.buf = append(w.buf, m.entry...)
	if visit != 1 { // see stored.complete
		w.number(`,"visit":`, uint64(visit)) //nolint:gosec // never negative
	}
}

func (w *writer) front(t *trace, front []task, merged bool) {
	if len(front) == 0 {
		return
	}
	w.buf = append(w.buf, `,"front":[`...)
	for i := range front {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.visit(t.core.metas[front[i].node], t.begun(front[i].node))
		w.task(&front[i], merged)
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, ']')
}

func (w *writer) task(t *task, merged bool) {
	switch {
	case t.phase == done && t.made == nil && !merged: // it cannot be stored, and runs again
	case t.phase != ready:
		w.number(`,"phase":`, uint64(t.phase))
	}
	w.flag(`,"tolerant":true`, t.tolerant)
	if t.retries > 0 {
		w.number(`,"retries":`, uint64(t.retries)) //nolint:gosec // never negative
	}
	if t.phase == done && t.made != nil {
		w.value(`,"out":`, t.made)
	}
	if t.phase == dropped {
		w.buf = append(append(w.buf, `,"failure":`...), t.made...)
	}
	w.list(`,"asks":`, len(t.asks), func(i int) { w.ask(t.asks[i]) })
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
	if len(s.memos) > 0 {
		w.json(`,"memos":`, s.memos)
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
		e := s.effects[keys[i]]
		w.value(`,"result":`, e.data)
		if e.retries > 0 {
			w.number(`,"retries":`, uint64(e.retries)) //nolint:gosec // never negative
		}
		w.buf = append(w.buf, '}')
	})
	w.list(`,"failures":`, len(s.failures), func(i int) {
		f := s.failures[i]
		w.text(`{"node":`, f.Node)
		w.number(`,"visit":`, uint64(f.Visit)) //nolint:gosec // never negative
		w.buf = append(append(w.buf, `,"failure":`...), s.lost[i]...)
		w.buf = append(w.buf, '}')
	})
}
