package stream

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// File is a file given by its bytes or by its address. Exactly one of Bytes
// and URI is used: URI when it is not empty, Bytes (which may be empty)
// otherwise.
type File struct {
	// Name is the file's name as shown to people, "report.pdf" say. Optional.
	Name string
	// MediaType is the file's media type, "application/pdf" say. Optional.
	MediaType string
	// Bytes is the content. It is copied where a File is handed over.
	Bytes []byte
	// URI is where the content can be fetched from instead.
	URI string
}

// Kind says which of its three contents a [Part] holds.
type Kind int

// The kinds of a part.
const (
	// KindText is the kind of the zero Part, an empty text.
	KindText Kind = iota
	// KindData is a JSON value.
	KindData
	// KindFile is a file.
	KindFile
)

// Part is one piece of content: a text, a JSON value or a file. It is
// immutable; the zero value is an empty text.
type Part struct {
	kind    Kind
	text    string
	data    any
	file    File
	meta    map[string]any
	dropped []string
}

// TextPart makes a part of text. Bytes that are not UTF-8 are replaced by
// U+FFFD, for no binding could carry them.
func TextPart(text string) Part {
	return Part{kind: KindText, text: validText(text)}
}

// DataPart makes a part of any value that JSON can express. The value is
// converted here and now, so the caller may change it afterwards. What JSON
// cannot express (a channel, a NaN, a cycle) is left out and listed by
// [Part.Dropped]; the rest is kept. A nil slice is an empty array and a nil map
// an empty object, for it is how Go code says that there is nothing.
func DataPart(v any) Part {
	data, dropped := plain.Value(v)
	if data == nil && len(dropped) == 0 {
		data = emptyOf(v)
	}
	return Part{kind: KindData, data: data, dropped: dropped}
}

// emptyOf is the empty JSON value that a nil slice or map stands for, else nil.
func emptyOf(v any) any {
	switch t := reflect.TypeOf(v); {
	case t == nil:
		return nil
	case t.Kind() == reflect.Map:
		return map[string]any{}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8: // json.RawMessage is a null
		return []any{}
	default:
		return nil
	}
}

// FilePart makes a part of a file. The bytes are copied.
func FilePart(f File) Part {
	f.Bytes = bytes.Clone(f.Bytes)
	if f.Bytes == nil && f.URI == "" {
		f.Bytes = []byte{} // an empty file is one too; no Bytes would be a part without content
	}
	f.Name, f.MediaType, f.URI = validText(f.Name), validText(f.MediaType), validText(f.URI)
	return Part{kind: KindFile, file: f}
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Kind says what the part holds.
func (p Part) Kind() Kind { return p.kind }

// Text is the text of a text part, else "".
func (p Part) Text() string { return p.text }

// Data is the value of a data part in plain JSON types (nil, bool, float64,
// int64 beyond 2^53, string, []any, map[string]any), else nil. It must not be
// changed.
func (p Part) Data() any { return p.data }

// File is the file of a file part, else the zero File. Its bytes must not be
// changed.
func (p Part) File() File { return p.file }

// WithMetadata gives the part with metadata (A2A section 4.1.6), converted like
// the value of [DataPart], instead of what it has; empty is none. A text that has
// any stays a part of its own: the writer merges it with no other.
func (p Part) WithMetadata(m map[string]any) Part {
	plainly, dropped := plain.Map(m)
	p.meta = nil
	if len(plainly) > 0 {
		p.meta = plainly
	}
	if len(dropped) > 0 {
		p.dropped = append(slices.Clip(p.dropped), dropped...)
	}
	return p
}

// Metadata is the part's metadata in plain JSON types, nil without any. It must
// not be changed.
func (p Part) Metadata() map[string]any { return p.meta }

// Dropped lists what [DataPart] and [Part.WithMetadata] left out, each as a JSON
// Pointer and a reason.
func (p Part) Dropped() []string { return slices.Clone(p.dropped) }

// Size is about how many bytes the part takes.
func (p Part) Size() int {
	n := 0
	if p.meta != nil {
		n = sizeOf(p.meta)
	}
	switch p.kind {
	case KindText:
		return n + len(p.text)
	case KindFile:
		return n + len(p.file.Bytes) + len(p.file.URI) + len(p.file.Name)
	default:
		return n + sizeOf(p.data)
	}
}

func sizeOf(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n = len(v)
	case map[string]any:
		for k, e := range v {
			n += len(k) + sizeOf(e)
		}
	case []any:
		for _, e := range v {
			n += sizeOf(e)
		}
	}
	return n
}

// empty reports whether the part says nothing: an empty text, or a null, which
// not every client can read.
func (p Part) empty() bool {
	return p.kind == KindText && p.text == "" || p.kind == KindData && p.data == nil
}

// lost is the error of a part that is empty because all of it was dropped.
func (p Part) lost() error {
	if len(p.dropped) == 0 {
		return nil
	}
	return errors.New("stream: write data: " + strings.TrimPrefix(p.dropped[0], ": "))
}
