package plain_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/internal/plain"
)

type (
	level  string
	inner  struct{ Shared, Deep any }
	hidden struct{ Promoted int }
	record struct {
		Name    string    `json:"name"`
		Skip    string    `json:"-"`
		Dash    string    `json:"-,"` //nolint:staticcheck // the odd spelling is what is tested
		Empty   string    `json:",omitempty"`
		Zero    time.Time `json:"zero,omitzero"`
		Bad     chan int  `json:"bad"`
		Any     any
		private int
		inner
		*hidden
		Named inner `json:"named"`
	}
	failing   struct{}
	panicking struct{}
	textKey   struct{ k string }
	node      struct{ Next *node }
)

func (failing) MarshalJSON() ([]byte, error)   { return nil, errors.New("no") }
func (panicking) MarshalJSON() ([]byte, error) { panic("boom") }
func (k textKey) MarshalText() ([]byte, error) { return []byte("<" + k.k + ">"), nil }

func TestValue(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name    string
		in      any
		want    any
		dropped []string
	}{
		{"nil", nil, nil, nil},
		{"bool", true, true, nil},
		{"string", "a", "a", nil},
		{"not UTF-8", "a\xff", "a\uFFFD", nil},
		{"named string", level("x"), "x", nil},
		{"int", 7, 7.0, nil},
		{"int8", int8(-7), -7.0, nil},
		{"exact int", 1 << 53, float64(1 << 53), nil},
		{"large int", 1<<53 + 1, int64(1<<53 + 1), nil},
		{"large negative", int64(math.MinInt64), int64(math.MinInt64), nil},
		{"uint64 that fits", uint64(math.MaxInt64), int64(math.MaxInt64), nil},
		{"uint64 that does not fit", uint64(math.MaxUint64), float64(math.MaxUint64), nil},
		{"float32", float32(0.1), 0.1, nil},
		{"number", json.Number("12"), 12.0, nil},
		{"fraction", json.Number("1.5e1"), 15.0, nil},
		{"large number", json.Number("9007199254740993"), int64(9007199254740993), nil},
		{"huge number", json.Number("1" + strings.Repeat("0", 30)), 1e30, nil},
		{"empty number", json.Number(""), 0.0, nil},
		{"raw", json.RawMessage(`{"a":[1,null]}`), map[string]any{"a": []any{1.0, nil}}, nil},
		{"time", when, "2026-01-02T03:04:05Z", nil},
		{"bytes", []byte("hi"), "aGk=", nil},
		{"strings", []string{"a", "\xff"}, []any{"a", "\uFFFD"}, nil},
		{"string map", map[string]string{"a": "b"}, map[string]any{"a": "b"}, nil},
		{"int keys", map[int]bool{3: true}, map[string]any{"3": true}, nil},
		{"nil map", map[string]any(nil), nil, nil},
		{"nil slice", []any(nil), nil, nil},
		{"nil pointer", (*record)(nil), nil, nil},
		{"keys that clash", map[string]any{"\xff": 1, "\uFFFD": 2}, map[string]any{"\uFFFD": 2.0}, []string{"/\uFFFD: another entry has this key"}},
		{"channel", make(chan int), nil, []string{": chan int has no JSON form"}},
		{"NaN", math.NaN(), nil, []string{": not a finite number"}},
		{"infinite float32", float32(math.Inf(1)), nil, []string{": not a finite number"}},
		{"bad number", json.Number("x"), nil, []string{": not a number"}},
		{"bad number, valid JSON", json.Number("true"), nil, []string{": not a number"}},
		{"number out of range", json.Number("1e999"), nil, []string{": number out of range"}},
		{
			"entries and elements",
			map[string]any{"a/b": func() {}, "c": []any{1, make(chan int), "x"}, "d": complex(1, 2)},
			map[string]any{"c": []any{1.0, nil, "x"}},
			[]string{"/a~1b: func() has no JSON form", "/c/1: chan int has no JSON form", "/d: complex128 has no JSON form"},
		},
		{
			"typed containers",
			map[textKey][]any{{"k"}: {math.NaN(), 1}},
			map[string]any{"<k>": []any{nil, 1.0}},
			[]string{"/<k>/0: not a finite number"},
		},
		{"array", [2]any{1, math.Inf(-1)}, []any{1.0, nil}, []string{"/1: not a finite number"}},
		{"key without a form", map[any]any{1.5: 1}, map[string]any{}, []string{"/interface {}: a key of type interface {} has no JSON form"}},
		{
			"struct",
			record{
				Name: "n", Skip: "s", Dash: "d", Any: math.NaN(), private: 1,
				inner: inner{Shared: 1, Deep: []any{func() {}}}, hidden: &hidden{2}, Named: inner{Shared: "x"},
			},
			map[string]any{
				"name": "n", "-": "d", "Shared": 1.0, "Deep": []any{nil}, "Promoted": 2.0,
				"named": map[string]any{"Shared": "x", "Deep": nil},
			},
			[]string{"/Any: not a finite number", "/Deep/0: func() has no JSON form", "/bad: chan int has no JSON form"},
		},
		{"nil embedded pointer", struct {
			*hidden
			C chan int
		}{}, map[string]any{}, []string{"/C: chan int has no JSON form"}},
		{"marshalers", []any{failing{}, panicking{}, 1}, []any{nil, nil, 1.0}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, dropped := plain.Value(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if tc.name == "marshalers" {
				if len(dropped) != 2 || !strings.HasPrefix(dropped[0], "/0: ") || !strings.HasPrefix(dropped[1], "/1: ") {
					t.Errorf("dropped %q", dropped)
				}
				return
			}
			if diff := cmp.Diff(tc.dropped, dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	m := map[string]any{"a": 1}
	m["self"], m["list"] = m, []any{m, "x"}
	s := []any{1, nil}
	s[1] = s
	n := &node{}
	n.Next = &node{Next: n}
	tests := []struct {
		name    string
		in      any
		want    any
		dropped int
	}{
		{"map", m, map[string]any{"a": 1.0, "list": []any{nil, "x"}}, 2},
		{"slice", s, []any{1.0, nil}, 1},
		{"pointer", n, map[string]any{"Next": map[string]any{}}, 1},
		{"shared, not cyclic", []any{s[:1], s[:1]}, []any{[]any{1.0}, []any{1.0}}, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, dropped := plain.Value(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" || len(dropped) != tc.dropped {
				t.Errorf("value, dropped %q (-want +got):\n%s", dropped, diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var deep any = "bottom"
	for range 1000 {
		deep = []any{deep}
	}
	if _, dropped := plain.Value(deep); len(dropped) != 1 {
		t.Errorf("a thousand levels: dropped %d", len(dropped))
	}
	var laughs any = "ha"
	for range 60 {
		laughs = []any{laughs, laughs}
	}
	if _, dropped := plain.Value(laughs); len(dropped) == 0 {
		t.Error("a value that unfolds to 2^60 strings was unfolded")
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   any
		want map[string]any
	}{
		{"map", map[string]any{"a": 1}, map[string]any{"a": 1.0}},
		{"struct", hidden{1}, map[string]any{"Promoted": 1.0}},
		{"list", []any{1}, map[string]any{"value": []any{1.0}}},
		{"nil", nil, nil},
		{"no map", map[string]any(nil), nil},
		{"empty map", map[string]any{}, map[string]any{}},
		{"channel", make(chan int), nil},
	}
	for _, tc := range tests {
		got, _ := plain.Map(tc.in)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// anyValue draws trees of values that may or may not be plain.
func anyValue() *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(),
		rapid.Float64().AsAny(), rapid.Float32().AsAny(), rapid.SliceOf(rapid.Byte()).AsAny(),
		rapid.Just[any](math.NaN()), rapid.Just[any](make(chan int)), rapid.Just[any](panicking{}), rapid.Just[any](record{}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) any { return string(b) }),
	)
	g := leaf
	for range 3 {
		inner := g
		g = rapid.OneOf(leaf,
			rapid.SliceOf(inner).AsAny(),
			rapid.MapOf(rapid.String(), inner).AsAny(),
			rapid.MapOf(rapid.Int(), inner).AsAny(),
			rapid.Map(inner, func(v any) any { return &inner0{v} }))
	}
	return g
}

type inner0 struct{ V any }

func TestResultsArePlain(t *testing.T) {
	t.Parallel()
	gob.Register(map[string]any{})
	gob.Register([]any{})
	rapid.Check(t, func(t *rapid.T) {
		in := anyValue().Draw(t, "value")
		got, _ := plain.Value(in)
		checkPlain(t, got)
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("JSON: %v", err)
		}
		var b bytes.Buffer
		holder := struct{ V map[string]any }{map[string]any{"v": got}}
		if err := gob.NewEncoder(&b).Encode(holder); err != nil {
			t.Errorf("gob: %v", err)
		}
		again, dropped := plain.Value(got)
		if diff := cmp.Diff(got, again); diff != "" || len(dropped) > 0 {
			t.Errorf("a plain value changed, dropped %q (-first +second):\n%s", dropped, diff)
		}
		if aliases(got, again) {
			t.Error("the result shares memory with the input")
		}
	})
}

func checkPlain(t *rapid.T, v any) {
	switch v := v.(type) {
	case nil, bool, float64:
	case int64:
		if v >= -1<<53 && v <= 1<<53 {
			t.Errorf("%d is not a float64", v)
		}
	case string:
		if !utf8.ValidString(v) {
			t.Errorf("%q is not UTF-8", v)
		}
	case map[string]any:
		for k, x := range v {
			checkPlain(t, k)
			checkPlain(t, x)
		}
	case []any:
		for _, x := range v {
			checkPlain(t, x)
		}
	default:
		t.Errorf("%T is not plain", v)
	}
}

// aliases reports whether two equal plain trees share a map or a slice.
func aliases(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() {
			return true
		}
		for k, v := range a {
			if aliases(v, b[k]) {
				return true
			}
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) > 0 && &a[0] == &b[0] {
			return true
		}
		for i, v := range a {
			if aliases(v, b[i]) {
				return true
			}
		}
	}
	return false
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`null`, `{"a":[1,2.5,"x",true,null]}`, `9007199254740993`, `-0`, `1e400`, `"\ud800"`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			return
		}
		got, dropped := plain.Value(json.RawMessage(b))
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("the result is no JSON: %v", err)
		}
		var want, back any
		if json.Unmarshal(b, &want) != nil || len(dropped) > 0 {
			return // a number out of range, or too deep
		}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("JSON after the round trip (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	in := map[string]any{"a": 1.0, "b": []any{"x", "y", true}, "c": map[string]any{"d": nil}}
	b.Run("case=plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plain.Value(in)
		}
	})
	b.Run("case=struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plain.Value(hidden{1})
		}
	})
	b.Run("baseline=json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text, err := json.Marshal(in)
			if err != nil {
				b.Fatal(err)
			}
			var out any
			if err := json.Unmarshal(text, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
