package stream_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errSink = errors.New("the reader is gone")

// recorder is a sink that keeps what it takes and refuses the calls that
// refuse names, counted from 0.
type recorder struct {
	mu       sync.Mutex
	busy     bool
	overlap  bool
	calls    int
	refuse   map[int]bool
	chunks   []stream.Chunk
	progress []string
}

func (r *recorder) Chunk(c stream.Chunk) error {
	return r.call(func() { r.chunks = append(r.chunks, c) })
}

func (r *recorder) Progress(text string) error {
	return r.call(func() { r.progress = append(r.progress, text) })
}

// call notices when a second call comes while one is being handled.
func (r *recorder) call(keep func()) error {
	r.mu.Lock()
	r.overlap = r.overlap || r.busy
	r.busy = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy = false
	}()
	r.mu.Lock()
	defer r.mu.Unlock() // before the other deferred call
	r.calls++
	if r.refuse[r.calls-1] {
		return errSink
	}
	keep()
	return nil
}

// sent gives the chunks taken so far.
func (r *recorder) sent() []stream.Chunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.chunks)
}

// lines renders chunks, one a line, with everything a client would see.
func lines(chunks []stream.Chunk) []string {
	out := []string{}
	for _, c := range chunks {
		s := fmt.Sprintf("%q", c.Artifact.Name)
		if c.Artifact.Description != "" {
			s += fmt.Sprintf(" (%s)", c.Artifact.Description)
		}
		if c.Append {
			s += " +"
		}
		for _, p := range c.Parts {
			s += " " + render(p)
		}
		if c.Last {
			s += " last"
		}
		out = append(out, s)
	}
	return out
}

func render(p stream.Part) string {
	switch p.Kind() {
	case stream.KindText:
		return fmt.Sprintf("text:%q", p.Text())
	case stream.KindData:
		return fmt.Sprintf("data:%v", p.Data())
	case stream.KindFile:
		f := p.File()
		return fmt.Sprintf("file:%s:%s%s", f.Name, f.URI, f.Bytes)
	}
	return "unknown kind"
}

// illegal says what no client could make sense of, or "".
func illegal(chunks []stream.Chunk) string {
	complete := map[string]bool{}
	for i, c := range chunks {
		last, known := complete[c.Artifact.Name]
		switch {
		case len(c.Parts) == 0:
			return fmt.Sprintf("chunk %d has no parts", i)
		case last:
			return fmt.Sprintf("chunk %d follows the last one of %q", i, c.Artifact.Name)
		case c.Append != known:
			return fmt.Sprintf("chunk %d of %q: append is %v", i, c.Artifact.Name, c.Append)
		}
		complete[c.Artifact.Name] = c.Last
	}
	return ""
}
