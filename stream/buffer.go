package stream

import (
	"slices"
	"strings"
	"time"
)

// Buffer says how a Writer merges what is written in quick succession, for each
// chunk costs its receiver work that grows with the artifact. An artifact's
// first chunk goes out at once, and so does one after a pause; what follows
// within the interval is held back, until its time has come, it has grown to
// Bytes, or the artifact ends. Order and content of each artifact are what was
// written: texts that follow each other become one. Of progress only the
// newest is sent.
//
// The zero value holds nothing back.
type Buffer struct {
	// Bytes is how much is held back at most; 0 is nothing.
	Bytes int
	// First is the interval at first. It grows with each chunk sent, to
	// Longest: the later in a stream, the less a moment matters.
	First, Longest time.Duration
}

// step is by how much the interval grows with each chunk.
const step = 2 * time.Millisecond

func (b Buffer) interval(chunks int) time.Duration {
	return min(b.First+time.Duration(chunks)*step, max(b.First, b.Longest))
}

// held is what waits to be sent of one artifact.
type held struct {
	parts []Part
	text  strings.Builder // the text that follows parts
}

func (h *held) add(p Part) {
	if p.kind == KindText {
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

// hold keeps a part of an open artifact back, unless it may go out at once.
func (w *Writer) hold(a *artifact, p Part) error {
	if len(w.waiting) == 0 && w.size == 0 && time.Since(w.last) >= w.buffer.interval(w.chunks) {
		return w.emit(Chunk{Artifact: a.info, Parts: []Part{p}, Append: true})
	}
	if !a.waits {
		a.waits = true
		w.waiting = append(w.waiting, a)
	}
	a.held.add(p)
	w.size += p.Size()
	if w.size >= w.buffer.Bytes {
		return w.flush()
	}
	w.arm()
	return nil
}

// emit sends a chunk now.
func (w *Writer) emit(c Chunk) error {
	err := w.sink.Chunk(c)
	w.chunks++
	w.last = time.Now()
	return err
}

// flush sends all that is held back.
func (w *Writer) flush() error {
	waiting, progress := w.waiting, w.progress
	w.waiting, w.progress, w.size = nil, "", 0
	for _, a := range waiting {
		a.waits = false
		parts := a.held.take()
		if err := w.emit(Chunk{Artifact: a.info, Parts: parts, Append: true}); err != nil {
			a.held.parts = parts // the code was told that they are taken: they close the artifact
			return err
		}
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
