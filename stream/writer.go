package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// ErrClosed is returned by every write after the run has ended, after its
// artifact was closed, or when the run was stopped while the write waited.
var ErrClosed = errors.New("stream: write after the end")

// Chunk is one update of one artifact, as a [Sink] receives it.
type Chunk struct {
	// Artifact says which artifact the chunk belongs to.
	Artifact Info
	// Parts is never empty.
	Parts []Part
	// Append is false for an artifact's first chunk.
	Append bool
	// Last is true for an artifact's last chunk.
	Last bool
	// Metadata is that of the artifact, with its first chunk, in plain JSON types.
	// It must not be changed.
	Metadata map[string]any
	// Dropped lists what was left out of Metadata, like [Part.Dropped].
	Dropped []string
}

// Info identifies and describes an artifact of one run.
type Info struct {
	// Name is "" for the run's default artifact.
	Name string
	// Number tells apart artifacts of one name: 0 is that of
	// [Writer.Artifact], those of [Writer.NewArtifact] count from 1.
	Number int
	// Description is for people; optional.
	Description string
}

// Sink receives what a Writer emits, one call at a time and in order. A call
// blocks while the receiver is behind. Its error is returned to the writing
// code and nothing counts as sent.
type Sink interface {
	Chunk(Chunk) error
	Progress(text string) error
}

// Limiter is what a Sink may implement to bound what a Writer takes. Take is
// called before a part or a progress message is taken, one call at a time, with
// its size, see [Part.Size]; its error is the write's. It must not call the Writer.
type Limiter interface{ Take(size int) error }

// take asks the sink whether there is room for so much. The caller holds the lock.
func (w *Writer) take(size int) error {
	if l, ok := w.sink.(Limiter); ok {
		return l.Take(size)
	}
	return nil
}

// Writer streams a run's output. Get one from the executor (the argument of a
// Stream function) or from [FromContext]; the zero value and nil are closed.
// It is safe for concurrent use: writes are put in one order, the order in
// which the client sees them.
type Writer struct {
	mu     sync.Mutex
	sink   Sink // nil once closed
	known  map[key]*artifact
	made   int         // by NewArtifact
	opened []*artifact // in the order of their first parts

	buffer   Buffer
	waiting  []*artifact // with something held back, in the order it was written
	size     int         // of all that is held back
	progress string      // held back
	chunks   int         // sent so far
	sent     int         // in them, in bytes
	last     time.Time   // when something was sent
	timer    *time.Timer // nil unless it runs
	failed   error       // why something held back could not be sent
	closing  []Chunk     // once closed

	of   *Writer // whose view it is, see Observed; nothing else is in use then
	tell func(Chunk) error
}

// Observed gives a Writer that writes to w, and tells of each part that w has
// taken and each artifact that it closes, as a chunk of its own, whatever w holds
// back. Tell is called in the writing goroutine; its error is the write's.
func (w *Writer) Observed(tell func(Chunk) error) *Writer {
	if w == nil || tell == nil {
		return w
	}
	if w.of == nil {
		return &Writer{of: w, tell: tell}
	}
	return &Writer{of: w.of, tell: func(c Chunk) error {
		if err := w.tell(c); err != nil {
			return err
		}
		return tell(c)
	}}
}

// told passes on what was taken of a write, if anything was.
func (w *Writer) told(c Chunk, err error) error {
	if err != nil || len(c.Parts) == 0 || w.tell == nil {
		return err
	}
	return w.tell(c)
}

// owner is the Writer that keeps what is written.
func (w *Writer) owner() *Writer {
	if w.of != nil {
		return w.of
	}
	return w
}

// key is an artifact's identity within a Writer.
type key struct {
	name   string
	number int
}

// artifact is the state of one artifact of a Writer.
type artifact struct {
	info    Info
	meta    map[string]any
	dropped []string // of meta
	opened  bool     // something was written to it
	sent    bool     // its first chunk was sent
	closed  bool     // its last chunk was sent
	waits   bool     // something is held back
	held    held
}

// Text appends text to the run's default artifact. Empty text sends nothing.
func (w *Writer) Text(text string) error { return w.write(key{}, TextPart(text)) }

// Data appends a JSON value to the run's default artifact; see [DataPart]. A
// null (nil) sends nothing, for not every client can read one; a value of
// which JSON can express nothing at all is an error.
func (w *Writer) Data(v any) error { return w.write(key{}, DataPart(v)) }

// File appends a file to the run's default artifact.
func (w *Writer) File(f File) error { return w.write(key{}, FilePart(f)) }

// Artifact gives the artifact of that name, to be written side by side with
// others. The same name gives the same artifact, "" the default one; options
// count until its first chunk is sent. Nothing is sent until something is
// written to it.
func (w *Writer) Artifact(name string, opts ...ArtifactOption) *Artifact {
	a := &Artifact{w: w, key: key{name: validText(name)}}
	if w != nil && len(opts) > 0 {
		w.describe(a.key, opts)
	}
	return a
}

// NewArtifact gives an artifact that nobody else writes to, even where another
// has the same name; the name may be "". Otherwise it is like that of
// [Writer.Artifact].
func (w *Writer) NewArtifact(name string, opts ...ArtifactOption) *Artifact {
	if w == nil {
		return &Artifact{}
	}
	o := w.owner()
	o.mu.Lock()
	o.made++
	k := key{validText(name), o.made}
	o.mu.Unlock()
	w.describe(k, opts)
	return &Artifact{w: w, key: k}
}

// Progress tells the client what the run is doing, as the message of a
// working status. Empty text sends nothing. Progress is not part of the
// result; the host keeps each message in the task's history.
func (w *Writer) Progress(text string) error {
	if w == nil {
		return ErrClosed
	}
	w = w.owner()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sink == nil {
		return ErrClosed
	}
	if text == "" {
		return nil
	}
	text = validText(text)
	if err := w.take(len(text)); err != nil {
		return err
	}
	if w.buffer.Bytes > 0 && (w.timer != nil || time.Since(w.last) < w.buffer.interval(w.chunks)) {
		w.progress = text
		w.arm()
		return w.failed
	}
	w.last = time.Now()
	return w.sink.Progress(text)
}

func (w *Writer) write(k key, part Part) error {
	if w == nil {
		return ErrClosed
	}
	return w.told(w.owner().put(k, part))
}

// put takes a part. The chunk is of that alone, and empty if it is.
func (w *Writer) put(k key, part Part) (Chunk, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.artifact(k)
	if w.sink == nil || a.closed {
		return Chunk{}, ErrClosed
	}
	if part.empty() {
		return Chunk{}, part.lost()
	}
	if w.failed != nil {
		return Chunk{}, w.failed
	}
	size := part.Size()
	if !a.opened && a.meta != nil {
		size += sizeOf(a.meta)
	}
	if err := w.take(size); err != nil {
		return Chunk{}, err
	}
	c := Chunk{Artifact: a.info, Parts: []Part{part}, Append: a.opened}
	if !a.opened {
		c.Metadata = a.meta
	}
	if w.buffer.Bytes > 0 {
		return c, w.hold(a, part)
	}
	return c, w.emit(a, c.Parts, false)
}

// artifact finds or adds the artifact's state. The caller holds the lock.
func (w *Writer) artifact(k key) *artifact {
	a, ok := w.known[k]
	if !ok {
		a = &artifact{info: Info{Name: k.name, Number: k.number}}
		if w.known == nil {
			w.known = map[key]*artifact{}
		}
		w.known[k] = a
	}
	return a
}

func (w *Writer) describe(k key, opts []ArtifactOption) {
	w = w.owner()
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.artifact(k)
	if a.sent {
		return
	}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(a)
		}
	}
}

// chunk is the next one.
func (a *artifact) chunk(parts []Part, last bool) Chunk {
	c := Chunk{Artifact: a.info, Parts: parts, Append: a.sent, Last: last}
	if !a.sent {
		c.Metadata, c.Dropped = a.meta, a.dropped
	}
	return c
}

// rest is what ends an open artifact: what is held back of it. An update without
// parts is illegal, so where nothing is left to send it is one empty text part.
func (a *artifact) rest() []Part {
	parts := a.held.take()
	if len(parts) == 0 {
		parts = []Part{TextPart("")}
	}
	return parts
}

// Artifact writes to one artifact. It shares the Writer's order and is
// safe for concurrent use.
type Artifact struct {
	w   *Writer
	key key
}

// Text appends text to the artifact. Empty text sends nothing.
func (a *Artifact) Text(text string) error { return a.w.write(a.key, TextPart(text)) }

// Data appends a JSON value to the artifact; see [Writer.Data].
func (a *Artifact) Data(v any) error { return a.w.write(a.key, DataPart(v)) }

// File appends a file to the artifact.
func (a *Artifact) File(f File) error { return a.w.write(a.key, FilePart(f)) }

// Part appends any part to the artifact. An empty text, and a null, send
// nothing.
func (a *Artifact) Part(p Part) error { return a.w.write(a.key, p) }

// Close marks the artifact complete; later writes to it return [ErrClosed].
// Artifacts still open when the run ends are closed then, so calling Close is
// optional. Closing one that was never written sends nothing.
func (a *Artifact) Close() error {
	if a.w == nil {
		return ErrClosed
	}
	return a.w.told(a.w.owner().close(a.key))
}

// close ends an artifact. The chunk says so, and is empty if there was nothing to
// end.
func (w *Writer) close(k key) (Chunk, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sink == nil {
		return Chunk{}, ErrClosed
	}
	a := w.artifact(k)
	if !a.opened || a.closed {
		a.closed = true
		return Chunk{}, nil
	}
	w.release(a)
	last := a.rest()
	if err := w.emit(a, last, true); err != nil {
		a.held.parts = last // for the end, which closes the artifact again
		return Chunk{}, err
	}
	a.closed = true
	return Chunk{Artifact: a.info, Parts: []Part{TextPart("")}, Append: true, Last: true}, nil
}

// ArtifactOption describes an artifact.
type ArtifactOption struct{ apply func(*artifact) }

// Description sets the artifact's description for people. Default: none.
func Description(text string) ArtifactOption {
	text = validText(text)
	return ArtifactOption{func(a *artifact) { a.info.Description = text }}
}

// Metadata sets the artifact's metadata (A2A section 4.1.7). What JSON cannot
// express is left out. Default: none.
func Metadata(m map[string]any) ArtifactOption {
	plainly, dropped := plain.Map(m)
	if len(plainly) == 0 {
		plainly = nil
	}
	return ArtifactOption{func(a *artifact) { a.meta, a.dropped = plainly, dropped }}
}

// Control ends a Writer. Only whoever made the Writer has it.
type Control struct{ w *Writer }

// New makes a Writer that emits to sink, and the control over it. It holds
// nothing back.
func New(sink Sink) (*Writer, Control) { return NewBuffered(sink, Buffer{}) }

// NewBuffered is [New] with a buffer. What the buffer holds back is sent from a
// goroutine of its own; one that cannot be sent makes the next write fail.
func NewBuffered(sink Sink, b Buffer) (*Writer, Control) {
	w := &Writer{sink: sink, buffer: b}
	return w, Control{w}
}

// Wrote reports whether a chunk of any artifact has been sent.
func (c Control) Wrote() bool {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return len(c.w.opened) > 0
}

// Close ends the Writer: from now on every write returns [ErrClosed]. It
// returns whether any chunk was sent, and the chunks that close the artifacts
// left open, in the order of their first chunks, with what was held back. It
// waits for a write that the sink is handling. Closing again returns the same.
func (c Control) Close() (wrote bool, closing []Chunk) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.sink != nil {
		c.w.sink = nil
		c.w.disarm()
		for _, a := range c.w.opened {
			if !a.closed {
				c.w.closing = append(c.w.closing, a.chunk(a.rest(), true))
			}
		}
	}
	return len(c.w.opened) > 0, slices.Clone(c.w.closing)
}

type contextKey struct{}

// NewContext returns a context that carries w.
func NewContext(ctx context.Context, w *Writer) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// FromContext gives the Writer of the run that ctx belongs to. Outside of a
// run it gives nil and false; writing to the nil Writer returns [ErrClosed].
func FromContext(ctx context.Context) (*Writer, bool) {
	w, ok := ctx.Value(contextKey{}).(*Writer)
	return w, ok
}
