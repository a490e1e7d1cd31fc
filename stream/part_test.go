package stream_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/stream"
)

func TestZeroPartIsAnEmptyText(t *testing.T) {
	t.Parallel()
	var p stream.Part
	if p.Kind() != stream.KindText || p.Text() != "" || p.Data() != nil || p.Dropped() != nil {
		t.Errorf("zero part: got %+v", p)
	}
	if diff := cmp.Diff(stream.File{}, p.File()); diff != "" {
		t.Errorf("file of the zero part (-want +got):\n%s", diff)
	}
}

func TestTextPart(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"text", "Grüße, 世界", "Grüße, 世界"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"cut in the middle of a rune", "caf\xc3", "caf\uFFFD"},
		{"nothing valid", "\xff\xfe", "\uFFFD"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := stream.TextPart(tc.in)
			if p.Kind() != stream.KindText || p.Text() != tc.want {
				t.Errorf("got kind %v, text %q, want text %q", p.Kind(), p.Text(), tc.want)
			}
		})
	}
}

func TestDataPart(t *testing.T) {
	t.Parallel()
	type row struct {
		ID    int    `json:"id"`
		Label string `json:"label,omitempty"`
	}
	cases := []struct {
		name    string
		in      any
		want    any
		dropped int
	}{
		{"struct", row{ID: 1}, map[string]any{"id": 1.0}, 0},
		{"pointer", &row{ID: 2, Label: "two"}, map[string]any{"id": 2.0, "label": "two"}, 0},
		{"slice", []row{{ID: 3}}, []any{map[string]any{"id": 3.0}}, 0},
		{"scalar", "text", "text", 0},
		{"large integer", int64(math.MaxInt64), int64(math.MaxInt64), 0},
		{"invalid UTF-8", map[string]any{"s": "\xff"}, map[string]any{"s": "\uFFFD"}, 0},
		{"partly inexpressible", map[string]any{"ok": true, "ch": make(chan int), "nan": math.NaN()}, map[string]any{"ok": true}, 2},
		{"wholly inexpressible", make(chan int), nil, 1},
		{"nil", nil, nil, 0},
		{"nil pointer", (*row)(nil), nil, 0},
		{"nil slice", []row(nil), []any{}, 0},
		{"nil map", map[string]int(nil), map[string]any{}, 0},
		{"no raw message", json.RawMessage(nil), nil, 0},
		{"raw message", json.RawMessage(`{"a":[1]}`), map[string]any{"a": []any{1.0}}, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := stream.DataPart(tc.in)
			if p.Kind() != stream.KindData || p.Text() != "" {
				t.Errorf("got kind %v, text %q", p.Kind(), p.Text())
			}
			if diff := cmp.Diff(tc.want, p.Data()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if got := p.Dropped(); len(got) != tc.dropped {
				t.Errorf("dropped: got %q, want %d entries", got, tc.dropped)
			}
		})
	}
}

func TestPartsAreTakenAtOnce(t *testing.T) {
	t.Parallel()
	inner := map[string]any{"n": 1.0}
	value := map[string]any{"inner": inner, "list": []any{"a"}}
	data := stream.DataPart(value)
	inner["n"] = "changed"
	value["new"] = true
	value["list"].([]any)[0] = "changed" //nolint:errcheck // set three lines above
	want := map[string]any{"inner": map[string]any{"n": 1.0}, "list": []any{"a"}}
	if diff := cmp.Diff(want, data.Data()); diff != "" {
		t.Errorf("data after the caller changed its value (-want +got):\n%s", diff)
	}

	bytes := []byte("report")
	file := stream.FilePart(stream.File{Bytes: bytes})
	bytes[0] = 'X'
	if got := string(file.File().Bytes); got != "report" {
		t.Errorf("bytes after the caller changed its slice: got %q", got)
	}

	lossy := stream.DataPart(map[string]any{"ch": make(chan int)})
	want0 := lossy.Dropped()[0]
	lossy.Dropped()[0] = "changed"
	if got := lossy.Dropped()[0]; got != want0 {
		t.Errorf("dropped after a caller changed its copy: got %q, want %q", got, want0)
	}
}

func TestFilePart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		in, want stream.File
	}{
		{
			"bytes",
			stream.File{Name: "a.csv", MediaType: "text/csv", Bytes: []byte("a,b")},
			stream.File{Name: "a.csv", MediaType: "text/csv", Bytes: []byte("a,b")},
		},
		{
			"address",
			stream.File{Name: "a", URI: "https://example.com/a"},
			stream.File{Name: "a", URI: "https://example.com/a"},
		},
		{
			"an empty file has bytes, for a part must have content",
			stream.File{Name: "empty"},
			stream.File{Name: "empty", Bytes: []byte{}},
		},
		{
			"invalid UTF-8 everywhere but in the bytes",
			stream.File{Name: "\xff", MediaType: "\xfe", URI: "http://\xff", Bytes: []byte("\xff")},
			stream.File{Name: "\uFFFD", MediaType: "\uFFFD", URI: "http://\uFFFD", Bytes: []byte("\xff")},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := stream.FilePart(tc.in)
			if p.Kind() != stream.KindFile {
				t.Errorf("got kind %v", p.Kind())
			}
			if diff := cmp.Diff(tc.want, p.File()); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}
