package remote

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/stream"
)

// output collects what a remote answers and forwards it, each thing once
// however often the remote says it.
//
// Content is counted in units: a byte of text, or a part of another kind. How
// texts are cut into parts does not matter then.
type output struct {
	w    *stream.Writer // nil where nothing is forwarded
	left int64          // how much may still come, in bytes
	most int64
	seen map[string]int // by artifact: units forwarded by an earlier run
	last said           // what the remote said it is doing

	list []*artifact
	byID map[string]*artifact
}

// artifact is what is known of one artifact.
type artifact struct {
	piece // without parts
	parts []stream.Part
	text  strings.Builder // that follows parts
	units int
	skip  int              // units not to be forwarded
	to    *stream.Artifact // nil until something is forwarded
	done  bool
}

func newOutput(w *stream.Writer, most int64, seen map[string]int) *output {
	return &output{w: w, left: most, most: most, seen: seen, byID: map[string]*artifact{}}
}

// add takes artifacts, or updates of them.
func (o *output) add(pieces []piece) error {
	for _, p := range pieces {
		if err := o.addPiece(p); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) addPiece(p piece) error {
	a := o.byID[p.id]
	if a != nil && !p.more {
		rest, grown, older := a.rest(p.parts)
		switch {
		case older && p.whole:
			return nil
		case grown:
			p.parts = rest
		default:
			a = nil // it was replaced; what was forwarded cannot be taken back
		}
	}
	if a == nil || a.done && len(p.parts) > 0 {
		if err := o.count(sizeOfEvent + len(p.id) + len(p.name) + len(p.description) + sizeOf(p.metadata)); err != nil {
			return err
		}
		a = &artifact{piece: p, skip: o.seen[p.id]}
		a.piece.parts = nil
		if o.byID[p.id] != nil {
			a.skip = 0
		}
		o.list = append(o.list, a)
		o.byID[p.id] = a
	}
	if err := o.describe(a, p.metadata); err != nil {
		return err
	}
	for _, part := range p.parts {
		if err := o.addPart(a, part); err != nil {
			return err
		}
	}
	if p.last && !a.done {
		a.done = true
		if a.to != nil {
			return a.to.Close()
		}
	}
	return nil
}

// sizeOfEvent is what an event, or an artifact, counts for beside its content.
const sizeOfEvent = 64

// charge counts an event against what may come, without its artifacts.
func (o *output) charge(ev event) error {
	n := sizeOfEvent
	if !reflect.DeepEqual(ev.status, o.last) {
		n += ev.status.size
	}
	return o.count(n)
}

func (o *output) count(size int) error {
	if o.left -= int64(size); o.left < 0 {
		return fmt.Errorf("%w: more than %d bytes of content", errTooLarge, o.most)
	}
	return nil
}

// covers reports whether a snapshot has all that is known; one that was made
// before has not.
func (o *output) covers(pieces []piece) bool {
	units := map[string]int{}
	for _, p := range pieces {
		units[p.id] += unitsOf(p.parts)
	}
	for id, a := range o.byID {
		if a.units > units[id] {
			return false
		}
	}
	return true
}

// describe takes the metadata of an update, which adds to what there is; of an
// artifact that is forwarded already nobody is told.
func (o *output) describe(a *artifact, metadata map[string]any) error {
	if len(metadata) == 0 || reflect.DeepEqual(a.metadata, metadata) {
		return nil
	}
	both := maps.Clone(a.metadata)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, metadata)
	a.metadata = both
	return o.count(sizeOf(metadata))
}

func (o *output) addPart(a *artifact, p stream.Part) error {
	if err := o.count(p.Size()); err != nil {
		return err
	}
	a.add(p)
	n := units(p)
	if a.skip >= n {
		a.skip -= n
		return nil
	}
	if a.skip > 0 { // of a text
		p = from(p, a.skip)
		a.skip = 0
	}
	if o.w == nil {
		return nil
	}
	if a.to == nil {
		a.to = o.w.NewArtifact(a.name, stream.Description(a.description), stream.Metadata(a.metadata))
	}
	return a.to.Part(p)
}

// progress forwards what the remote says it is doing, once: snapshots repeat it.
func (o *output) progress(s said) error {
	if s.id == "" && s.size == 0 || reflect.DeepEqual(s, o.last) {
		return nil
	}
	o.last = s
	if o.w == nil || s.text == "" {
		return nil
	}
	return o.w.Progress(s.text)
}

// counts is what has been forwarded of each artifact, for a later run.
func (o *output) counts() map[string]any {
	out := map[string]any{}
	for id, a := range o.byID {
		out[id] = a.units
	}
	return out
}

func (o *output) artifacts() []agent.Artifact {
	out := make([]agent.Artifact, 0, len(o.list))
	for _, a := range o.list {
		if parts := a.content(); len(parts) > 0 {
			out = append(out, agent.Artifact{Name: a.name, Description: a.description, Metadata: a.metadata, Parts: parts})
		}
	}
	return out
}

func units(p stream.Part) int {
	if p.Kind() == stream.KindText {
		return len(p.Text())
	}
	return 1
}

// sizeOf is about how many bytes metadata takes.
func sizeOf(metadata map[string]any) int {
	if len(metadata) == 0 {
		return 0
	}
	return stream.DataPart(metadata).Size()
}

func unitsOf(parts []stream.Part) int {
	n := 0
	for _, p := range parts {
		n += units(p)
	}
	return n
}

func (a *artifact) add(p stream.Part) {
	a.units += units(p)
	if p.Kind() == stream.KindText && p.Metadata() == nil {
		a.text.WriteString(p.Text())
		return
	}
	if a.text.Len() > 0 {
		a.parts = append(a.parts, stream.TextPart(a.text.String()))
		a.text.Reset()
	}
	a.parts = append(a.parts, p)
}

// content is the artifact's parts, texts without metadata that follow each other
// as one.
func (a *artifact) content() []stream.Part {
	if a.text.Len() == 0 {
		return a.parts
	}
	return append(slices.Clip(a.parts), stream.TextPart(a.text.String()))
}

// rest gives what parts, the whole of an artifact, add to what is known of it;
// grown is false where they are not what is known and something more, older
// tells that they are the beginning of what is known.
func (a *artifact) rest(parts []stream.Part) (rest []stream.Part, grown, older bool) {
	known, now := cursor{parts: a.content()}, cursor{parts: parts}
	for {
		k, more := known.next()
		if !more {
			return now.rest(), true, false
		}
		p, more := now.next()
		if !more || p.Kind() != k.Kind() {
			return nil, false, !more
		}
		switch {
		case k.Kind() != stream.KindText: // counted, not compared
		case strings.HasPrefix(k.Text(), p.Text()):
			known.left = from(k, len(p.Text()))
		case strings.HasPrefix(p.Text(), k.Text()):
			now.left = from(p, len(k.Text()))
		default:
			return nil, false, false
		}
	}
}

// cursor goes through parts, texts in pieces of any length.
type cursor struct {
	left  stream.Part // of the text before
	parts []stream.Part
}

// next gives the next part that has content; artifacts are closed with one that
// has none.
func (c *cursor) next() (p stream.Part, ok bool) {
	if units(c.left) > 0 {
		p, c.left = c.left, stream.Part{}
		return p, true
	}
	for len(c.parts) > 0 {
		p, c.parts = c.parts[0], c.parts[1:]
		if units(p) > 0 {
			return p, true
		}
	}
	return p, false
}

func (c *cursor) rest() []stream.Part {
	if units(c.left) == 0 {
		return c.parts
	}
	return append([]stream.Part{c.left}, c.parts...)
}

// from is a text without its first n bytes.
func from(p stream.Part, n int) stream.Part {
	rest := stream.TextPart(p.Text()[n:])
	if p.Metadata() == nil {
		return rest
	}
	return rest.WithMetadata(p.Metadata())
}

// dropIf forgets everything where a guardrail blocked the remote.
func (o *output) dropIf(failure *errcode.Error) {
	if failure.Code() == errcode.GuardrailBlocked {
		o.list = nil
	}
}
