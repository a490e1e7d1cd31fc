package sqlstore

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// exactInt is the largest magnitude up to which every integer has its own float64.
const exactInt = 1 << 53

// anyValue draws what the host stores in data and metadata.
func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).AsAny(),
		rapid.Int64Range(exactInt+1, math.MaxInt64).AsAny(), rapid.Int64Range(math.MinInt64, -exactInt-1).AsAny(),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

func object3() *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.String(), anyValue(2), 1, 3)
}

func anyPart(t *rapid.T) *a2a.Part {
	p := &a2a.Part{Filename: rapid.String().Draw(t, "file"), MediaType: rapid.String().Draw(t, "type"), Metadata: object3().Draw(t, "meta")}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		p.Content = a2a.Text(rapid.String().Draw(t, "text"))
	case 1:
		p.Content = a2a.Raw(append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "raw")...))
	case 2:
		p.Content = a2a.URL(rapid.String().Draw(t, "url"))
	case 3:
		p.Content = a2a.Data{Value: anyValue(3).Draw(t, "data")}
	}
	return p
}

// fill puts something into every field, whatever fields the host's types get.
func fill(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case **a2a.Part:
		*x = anyPart(t)
		return
	case *map[string]any:
		*x = object3().Draw(t, "meta")
		return
	case **time.Time:
		at := time.Unix(rapid.Int64Range(0, 1<<37).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		*x = &at
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.StringN(1, 20, -1).Draw(t, "s"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("a field of kind %v: teach this test and the encoding about it", v.Kind())
	}
}

// Every field that the host's types have, and any value in them, is as it was.
func TestTaskSurvivesEncoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want a2a.Task
		fill(t, reflect.ValueOf(&want).Elem())
		text, err := encodeTask(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeTask(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEncodingKeepsWhatIsEmpty(t *testing.T) {
	t.Parallel()
	want := &a2a.Task{
		ID: "t", Metadata: map[string]any{"list": []any{}, "object": map[string]any{}, "null": nil},
		Artifacts: []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{
			a2a.NewRawPart([]byte{}), a2a.NewDataPart(nil), a2a.NewDataPart([]any{}), {Content: a2a.URL("")}, {Filename: "nothing"}, nil,
		}}, nil},
		History: []*a2a.Message{nil, {ID: "m", Parts: a2a.ContentParts{}}},
	}
	text, err := encodeTask(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeTask(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The host copies tasks by encoding/gob before it stores them, of which empty
// lists and bytes become nil ones. They are stored as what they were.
func TestEncodingRepairsWhatTheHostsCopyingLoses(t *testing.T) {
	t.Parallel()
	in := &a2a.Task{Metadata: map[string]any{"list": []any(nil)}, Artifacts: []*a2a.Artifact{{Parts: a2a.ContentParts{{Content: a2a.Raw(nil)}}}}}
	text, err := encodeTask(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeTask(text)
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := got.Metadata["list"].([]any); !ok || l == nil {
		t.Errorf("got the list %#v", got.Metadata["list"])
	}
	if raw, ok := got.Artifacts[0].Parts[0].Content.(a2a.Raw); !ok || raw == nil {
		t.Errorf("got the content %#v", got.Artifacts[0].Parts[0].Content)
	}
}

func FuzzDecodeTask(f *testing.F) {
	f.Add(`{"id":"t","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"data":{"n":9007199254740993}},null]}]}`)
	f.Add(`{"metadata":{"x":1e999}}`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		first, err := decodeTask(text)
		if err != nil {
			return
		}
		again, err := encodeTask(first)
		if err != nil {
			t.Skip() // numbers beyond every float64, which are never stored
		}
		second, err := decodeTask(again)
		if err != nil {
			t.Fatalf("%q: %v", again, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}
