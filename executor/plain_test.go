package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// odd are values that the host cannot store, or that some binding cannot
// carry, and what arrives of them as an entry of an object; absent: nothing.
func odd() map[string]struct{ value, want any } {
	loop := map[string]any{"a": 1}
	loop["self"] = loop
	type inner struct {
		Name  string `json:"name"`
		Count int    `json:"count,omitempty"`
		skip  int
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return map[string]struct{ value, want any }{
		"struct":       {inner{Name: "n", skip: 1}, map[string]any{"name": "n"}},
		"pointer":      {&inner{Count: 2}, map[string]any{"name": "", "count": 2.0}},
		"structs":      {[]inner{{Name: "a"}}, []any{map[string]any{"name": "a"}}},
		"json number":  {json.Number("12.5"), 12.5},
		"raw message":  {json.RawMessage(`{"a":[1,null,[]]}`), map[string]any{"a": []any{1.0, nil, []any{}}}},
		"string map":   {map[string]string{"a": "b"}, map[string]any{"a": "b"}},
		"int keys":     {map[int]bool{1: true}, map[string]any{"1": true}},
		"time":         {when, "2026-01-02T03:04:05Z"},
		"strings":      {[]string{"a", "b"}, []any{"a", "b"}},
		"empty array":  {[]any{}, []any{}},
		"bytes":        {[]byte("hi"), "aGk="},
		"int":          {7, 7.0},
		"huge int":     {int64(math.MaxInt64), float64(math.MaxInt64)}, // as a double
		"huge uint":    {uint64(math.MaxUint64), float64(math.MaxUint64)},
		"small":        {math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64},
		"not UTF-8":    {"a\xffb", "a\uFFFDb"},
		"null":         {nil, nil},
		"chan":         {make(chan int), absent},
		"func":         {func() {}, absent},
		"NaN":          {math.NaN(), absent},
		"infinity":     {math.Inf(-1), absent},
		"complex":      {complex(1, 2), absent},
		"cycle":        {loop, map[string]any{"a": 1.0}},
		"marshaler":    {failingValue{}, absent},
		"panics":       {panickingValue{}, absent},
		"deep":         {map[string]any{"x": []any{map[string]any{"y": []string{}, "z": math.NaN()}}}, map[string]any{"x": []any{map[string]any{"y": []any{}}}}},
		"text marshal": {level(3), "level 3"},
	}
}

type (
	nothing        struct{}
	failingValue   struct{}
	panickingValue struct{}
	level          int
)

var absent = nothing{}

func (failingValue) MarshalJSON() ([]byte, error)   { return nil, errors.New("no") }
func (panickingValue) MarshalJSON() ([]byte, error) { panic("no") }
func (level) MarshalText() ([]byte, error)          { return []byte("level 3"), nil }

// oddValues is all of odd in one object, and what is to arrive.
func oddValues() (values, want map[string]any) {
	values, want = map[string]any{}, map[string]any{}
	for name, v := range odd() {
		values[name] = v.value
		if v.want != any(absent) {
			want[name] = v.want
		}
	}
	return values, want
}

// places are where code of an agent can put values, and where they arrive.
var places = map[string]struct {
	run  func(map[string]any) agent.StreamFunc
	find func(*a2a.Task) any
}{
	"a result's data": {
		func(v map[string]any) agent.StreamFunc {
			return func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
				return agent.Data(v), nil
			}
		},
		func(t *a2a.Task) any { return t.Artifacts[0].Parts[0].Data() },
	},
	"streamed data": {
		func(v map[string]any) agent.StreamFunc {
			return func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
				return nil, w.Data(v)
			}
		},
		func(t *a2a.Task) any { return t.Artifacts[0].Parts[0].Data() },
	},
	"an artifact's metadata": {
		func(v map[string]any) agent.StreamFunc {
			return func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
				res := agent.Text("x")
				res.Artifacts[0].Metadata = v
				return res, nil
			}
		},
		func(t *a2a.Task) any { return t.Artifacts[0].Metadata },
	},
	"a failure's details": {
		func(v map[string]any) agent.StreamFunc {
			return func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
				return nil, errcode.New(errcode.NotFound, "gone", errcode.Details(v))
			}
		},
		func(t *a2a.Task) any { return entry(t.Status.Message.Parts[1].Data(), "details") },
	},
	"a question's payload": {
		func(v map[string]any) agent.StreamFunc {
			return func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
				return nil, hitl.InputRequired("?", hitl.Payload(v))
			}
		},
		func(t *a2a.Task) any {
			data, _ := t.Status.Message.Parts[1].Data().(map[string]any)
			delete(data, "question") // the prompt, beside the payload
			return data
		},
	},
}

func entry(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

// TestOddValuesArriveOnEveryBinding: each value as JSON has it, in the answer,
// and in the stored task.
func TestOddValuesArriveOnEveryBinding(t *testing.T) {
	t.Parallel()
	values, want := oddValues()
	for place, at := range places {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			_, url, clients := serveBindings(t, streaming(at.run(values)))
			for binding, c := range clients {
				res, err := c.SendMessage(t.Context(), userMessage("x"))
				if err != nil {
					t.Errorf("%s: %v", binding, err)
					continue
				}
				task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: res.TaskInfo().TaskID})
				if err != nil {
					t.Errorf("%s: %v", binding, err)
					continue
				}
				for how, got := range map[string]any{"answered": res, "stored": task} {
					task, ok := got.(*a2a.Task)
					if !ok {
						t.Errorf("%s: got a %T", binding, got)
						continue
					}
					if diff := cmp.Diff(any(want), at.find(task)); diff != "" {
						t.Errorf("%s, %s (-want +got):\n%s", binding, how, diff)
					}
				}
			}
			mustHave(t, url, want)
		})
	}
}

// mustHave asks over A2A 0.3, where the values are looked for in the answer's
// text.
func mustHave(t *testing.T, url string, want map[string]any) {
	t.Helper()
	_, body := postJSON(t, url+"/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"1","role":"user","parts":[{"kind":"text","text":"x"}]}}}`)
	var answer any
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	if !contains(answer, want) {
		t.Errorf("0.3: the values are not in %s", body)
	}
}

// contains reports whether a JSON value is, or has in it, an object.
func contains(v any, want map[string]any) bool {
	switch v := v.(type) {
	case map[string]any:
		found := maps.Clone(v)
		maps.DeleteFunc(found, func(k string, _ any) bool { _, wanted := want[k]; return !wanted })
		if cmp.Equal(found, want) {
			return true
		}
		for _, e := range v {
			if contains(e, want) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if contains(e, want) {
				return true
			}
		}
	}
	return false
}

// TestOddValuesAloneEndNoTask: each value by itself, as a whole data part.
func TestOddValuesAloneEndNoTask(t *testing.T) {
	t.Parallel()
	for name, v := range odd() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, invoking(func(context.Context, *agent.Request) (*agent.Result, error) { return agent.Data(v.value), nil }),
				mustComplete)
		})
	}
}

// TestOddValuesInAMessage: a caller within the process may put any Go value
// into a message, a first one or a follow-up.
func TestOddValuesInAMessage(t *testing.T) {
	t.Parallel()
	for name, v := range odd() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen any
			a := streaming(func(_ context.Context, req *agent.Request, _ *stream.Writer) (*agent.Result, error) {
				if seen = req.Data(); req.Text() == "ask" {
					return nil, hitl.InputRequired("?")
				}
				return nil, nil
			})
			h := newHandler(t, a)
			for _, where := range []string{"data", "part metadata", "message metadata", "request metadata"} {
				parked, state := answered(call(t), t, h, userMessage("ask"), false)
				if state != a2a.TaskStateInputRequired {
					t.Fatalf("got %q", state)
				}
				for _, id := range []a2a.TaskID{"", parked} {
					msg := withValue(where, v.value)
					msg.Message.TaskID = id
					_, err := h.SendMessage(call(t), msg)
					lossy := v.want == any(absent) || name == "cycle" || name == "deep"
					if lossy != errors.Is(err, a2a.ErrInvalidParams) || !lossy && err != nil {
						t.Errorf("%s: got %v", where, err)
					}
					if want := []any{map[string]any{"v": v.want}}; !lossy && where == "data" && !cmp.Equal(asJSON(t, seen), any(want)) {
						t.Errorf("the agent saw %v, want %v", seen, want)
					}
					if lossy && !strings.Contains(violations(err), "expected a JSON value") {
						t.Errorf("%s: violations are %q", where, violations(err))
					}
				}
				if task, err := h.GetTask(call(t), &a2a.GetTaskRequest{ID: parked}); err != nil || len(task.History) == 0 {
					t.Errorf("%s: the task is %+v, %v", where, task, err)
				}
			}
		})
	}
}

func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Error(err)
	}
	return out
}

func withValue(where string, v any) *a2a.SendMessageRequest {
	msg := userMessage("x")
	m := map[string]any{"v": v}
	switch where {
	case "data":
		msg.Message.Parts = a2a.ContentParts{a2a.NewDataPart(m)}
	case "part metadata":
		msg.Message.Parts[0].Metadata = m
	case "message metadata":
		msg.Message.Metadata = m
	default:
		msg.Metadata = m
	}
	return msg
}

// TestMessageIsNotChanged: what is made plain is a copy.
func TestMessageIsNotChanged(t *testing.T) {
	t.Parallel()
	h := newHandler(t, echo("a"))
	msg := withValue("data", json.Number("1"))
	msg.Message.Parts = append(msg.Message.Parts, a2a.NewTextPart("a\xff"))
	if _, err := h.SendMessage(call(t), msg); err != nil {
		t.Fatal(err)
	}
	if got := msg.Message.Parts[0].Data(); !cmp.Equal(got, any(map[string]any{"v": json.Number("1")})) || msg.Message.Parts[1].Text() != "a\xff" {
		t.Errorf("the caller's message became %+v", msg.Message.Parts)
	}
}

func mustComplete(t *testing.T, got *executortest.Got) {
	t.Helper()
	got.AssertCompleted(t)
}
