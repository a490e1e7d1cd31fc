package stream

import (
	"slices"
	"strings"
	"time"
)

// Buffer says how a Writer merges what is written in quick succession, for each
// chunk costs its receiver work that grows with the task. The first chunk of
// all goes out at once, and so does one after a pause; what follows
// within the interval is held back, until its time has come, it is as much as
// Bytes or a quarter of what was sent, whichever is more, but for that 1 MiB at most,
// or the artifact ends, which goes out with what is held back of it.
// Order and content of each artifact are what was
// written: texts without metadata that follow each other become one. Of progress only the
// newest is sent.
//
// The zero value holds nothing back.
type Buffer struct {
	// Bytes is how much is held back at most while little was sent; 0 is nothing.
	Bytes int
	// First is the interval at first. It grows with each chunk sent, to
	// Longest: the later in a stream, the less a moment matters.
	First, Longest time.Duration
}

// step is by how much the interval grows with each chunk.
const step = 2 * time.Millisecond

// What part of all that was sent may be held back: then there are few chunks more
// in a stream of twice the length. Many gRPC clients take no message of 4 MiB.
const (
	share     = 4
	mostShare = 1 << 20
)

func (b Buffer) interval(chunks int) time.Duration {
	return min(b.First+time.Duration(chunks)*step, max(b.First, b.Longest))
}

// held is what waits to be sent of one artifact.
type held struct {
	parts []Part
	text  strings.Builder // the text that follows parts
}

func (h *held) add(p Part) {
	if p.kind == KindText && p.meta == nil {
		h.text.WriteString(p.text)
		return
	}
	h.seal()
	h.parts = append(h.parts, p)
}

func (h *held) seal() {
	if h.text.Len() > 0 {
		h.parts = append(h.parts, Part{kind: KindText, text: h.text.String()})
		h.text.Reset()
	}
}

// take gives what is held, and holds nothing any more.
func (h *held) take() []Part {
	h.seal()
	parts := h.parts
	h.parts = nil
	return parts
}

// The methods of Writer below expect its lock to be held.

// hold keeps a part back, unless it may go out at once.
func (w *Writer) hold(a *artifact, p Part) error {
	pause := len(w.waiting) == 0 && w.size == 0 && time.Since(w.last) >= w.buffer.interval(w.chunks)
	if len(w.opened) == 0 || pause {
		return w.emit(a, []Part{p}, false)
	}
	w.open(a)
	if !a.waits {
		a.waits = true
		w.waiting = append(w.waiting, a)
	}
	a.held.add(p)
	w.size += p.Size()
	if w.size >= max(w.buffer.Bytes, min(w.sent/share, mostShare)) {
		return w.flush()
	}
	w.arm()
	return nil
}

// open counts an artifact among those that have to be closed.
func (w *Writer) open(a *artifact) {
	if !a.opened {
		a.opened = true
		w.opened = append(w.opened, a)
	}
}

// emit sends a chunk of an artifact now.
func (w *Writer) emit(a *artifact, parts []Part, last bool) error {
	err := w.sink.Chunk(a.chunk(parts, last))
	w.chunks++
	w.last = time.Now()
	if err != nil {
		return err
	}
	for _, p := range parts {
		w.sent += p.Size()
	}
	w.open(a)
	a.sent, a.closed = true, last
	return nil
}

// flush sends all that is held back.
func (w *Writer) flush() error {
	waiting, progress := w.waiting, w.progress
	w.waiting, w.progress, w.size = nil, "", 0
	for i, a := range waiting {
		parts := a.held.take()
		if err := w.emit(a, parts, false); err != nil {
			a.held.parts = parts // the code was told that they are taken: they close the artifact
			w.waiting = waiting[i:]
			return err
		}
		a.waits = false
	}
	if progress == "" {
		return nil
	}
	w.last = time.Now()
	return w.sink.Progress(progress)
}

// release takes an artifact out of the line: what is held back of it goes out
// by another way.
func (w *Writer) release(a *artifact) {
	if !a.waits {
		return
	}
	a.waits = false
	w.waiting = slices.DeleteFunc(w.waiting, func(b *artifact) bool { return a == b })
	if len(w.waiting) == 0 {
		w.size = 0
	}
}

// arm sees to it that what is held back goes out when its time has come.
func (w *Writer) arm() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.buffer.interval(w.chunks)-time.Since(w.last), w.due)
	}
}

// due is called by the timer.
func (w *Writer) due() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	if w.sink == nil {
		return
	}
	if err := w.flush(); err != nil {
		w.failed = err
	}
}

func (w *Writer) disarm() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
