package hitl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/hitl"
)

// answers is an asker that knows these.
type answers map[string]any

var errStore = errors.New("the store is down")

func (a answers) Answer(_ context.Context, key string) (id string, answer any, answered bool, err error) {
	answer, answered = a[key]
	if err, fails := answer.(error); fails {
		return "", nil, false, err
	}
	return "id-" + key, answer, answered, nil
}

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

// panicky cannot be decoded.
type panicky struct{}

func (*panicky) UnmarshalJSON([]byte) error { panic("UnmarshalJSON panics") }

// ask asks for a T and gives the answer as JSON, or the question.
func ask[T any](ctx context.Context) (got string, question map[string]any, err error) {
	v, err := hitl.Ask[T](ctx, "key", "Q?")
	if i := hitl.Find(err); i != nil {
		return "", i.Data(), nil
	}
	if err != nil {
		return "", nil, err
	}
	raw, err := json.Marshal(v)
	return string(raw), nil, err
}

func TestAskAnswered(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer any
		ask    func(context.Context) (string, map[string]any, error)
		want   string
	}{
		{"text", "Ada", ask[string], `"Ada"`},
		{"text that is JSON stays text", "42", ask[string], `"42"`},
		{"number", 42.0, ask[int], `42`},
		{"number as text", " 42 ", ask[int], `42`},
		{"boolean as text", "true", ask[bool], `true`},
		{"object", map[string]any{"name": "Ada", "age": 36.0}, ask[person], `{"name":"Ada","age":36}`},
		{"object as text", `{"name":"Ada"}`, ask[person], `{"name":"Ada","age":0}`},
		{"pointer", map[string]any{"name": "Ada"}, ask[*person], `{"name":"Ada","age":0}`},
		{"JSON", json.RawMessage(`{"age":1}`), ask[person], `{"name":"","age":1}`},
		{"JSON for JSON", json.RawMessage(`[1, 2]`), ask[json.RawMessage], `[1,2]`},
		{"anything", map[string]any{"a": 1.0}, ask[any], `{"a":1}`},
		{"anything from JSON", json.RawMessage(`[1]`), ask[any], `[1]`},
		{"the very type", person{"Ada", 36}, ask[person], `{"name":"Ada","age":36}`},
		{"time", "2026-01-02T03:04:05Z", ask[time.Time], `"2026-01-02T03:04:05Z"`},
		{"list", []any{"a"}, ask[[]string], `["a"]`},
		{"an empty text is an answer", "", ask[string], `""`},
		{"null is an answer", nil, ask[*person], `null`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, question, err := tc.ask(hitl.WithAsker(t.Context(), answers{"key": tc.answer}))
			if err != nil || question != nil || got != tc.want {
				t.Errorf("got %s, question %v, error %v, want %s", got, question, err, tc.want)
			}
		})
	}
}

func TestAskAgainAfterAnAnswerOfAnotherForm(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer any
		ask    func(context.Context) (string, map[string]any, error)
	}{
		{"text for a number", "many", ask[int]},
		{"fraction for an integer", 1.5, ask[int]},
		{"number for a text", 42.0, ask[string]},
		{"a field", map[string]any{"age": "old"}, ask[person]},
		{"a scalar for an object", true, ask[person]},
		{"broken JSON", json.RawMessage(`{`), ask[person]},
		{"no JSON at all", make(chan int), ask[string]},
		{"a type that panics", map[string]any{}, ask[panicky]},
		{"not the form of a time", "yesterday", ask[time.Time]},
		{"null for a number", nil, ask[int]},
		{"null as text for a number", "null", ask[int]},
		{"null for a struct", nil, ask[person]},
		{"null for a time", json.RawMessage(" null "), ask[time.Time]},
		{"a field of an object as text", `{"age":"old"}`, ask[person]},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, question, err := tc.ask(hitl.WithAsker(t.Context(), answers{"key": tc.answer}))
			if err != nil || question == nil {
				t.Fatalf("got %s, error %v, want the question again", got, err)
			}
			if question["question"] != "Q?" || question["id"] != "id-key" {
				t.Errorf("question: got %v", question)
			}
			vs, _ := question["violations"].([]any)
			if len(vs) != 1 {
				t.Fatalf("violations: got %v, want one", question["violations"])
			}
			v, _ := vs[0].(map[string]any)
			for _, member := range []string{"field", "expected", "message"} {
				if _, ok := v[member].(string); !ok {
					t.Errorf("violation: got %v, want it to have %s", v, member)
				}
			}
		})
	}
}

// Ask took any object for any struct, whatever its validate tags say.
func TestAskChecksTheAnswer(t *testing.T) {
	t.Parallel()
	type adult struct {
		Name string `json:"name" validate:"required"`
		Age  int    `json:"age" validate:"min=18"`
	}
	for name, answer := range map[string]any{"object": map[string]any{"age": 3}, "text": `{"age":3}`} {
		_, err := hitl.Ask[adult](hitl.WithAsker(t.Context(), answers{"key": answer}), "key", "Who?", hitl.Payload(map[string]any{"violations": "mine"}))
		data := hitl.Find(err).Data()
		var got []string
		list, _ := data["violations"].([]any)
		for _, v := range list {
			m, _ := v.(map[string]any)
			got = append(got, fmt.Sprint(m["field"], " ", m["expected"], " ", m["actual"]))
		}
		if diff := cmp.Diff([]string{"/name required ", "/age min=18 3"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(map[string]any{"violations": "mine"}, data["payload"]); diff != "" {
			t.Errorf("%s: the payload's own (-want +got):\n%s", name, diff)
		}
	}
	ok := hitl.WithAsker(t.Context(), answers{"key": map[string]any{"name": "Ada", "age": 36}})
	if v, err := hitl.Ask[adult](ok, "key", "Who?"); err != nil || v.Age != 36 {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := hitl.Ask[*adult](ok, "key", "Who?"); err != nil || v.Age != 36 {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestAskOpenQuestion(t *testing.T) {
	t.Parallel()
	ctx := hitl.WithAsker(t.Context(), answers{})
	v, err := hitl.Ask[int](ctx, "age", "How old?", hitl.Payload(map[string]any{"min": 18}), hitl.ID("not this one"))
	i := hitl.Find(fmt.Errorf("check age: %w", err))
	if v != 0 || i == nil || i.Prompt() != "How old?" || i.ID() != "id-age" {
		t.Fatalf("got %d, %v, want the question", v, err)
	}
	want := map[string]any{"question": "How old?", "id": "id-age", "min": 18.0}
	if diff := cmp.Diff(want, i.Data()); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// An option may be used for many questions, so none may write into it.
func TestAskDoesNotChangeItsOptions(t *testing.T) {
	t.Parallel()
	form := hitl.Payload(map[string]any{"min": 18})
	wrong := hitl.WithAsker(t.Context(), answers{"age": "many"})
	if _, err := hitl.Ask[int](wrong, "age", "How old?", form); hitl.Find(err).Data()["violations"] == nil {
		t.Fatalf("got %v, want the question again", err)
	}
	_, err := hitl.Ask[int](hitl.WithAsker(t.Context(), answers{}), "age", "How old?", form)
	want := map[string]any{"question": "How old?", "id": "id-age", "min": 18.0}
	if diff := cmp.Diff(want, hitl.Find(err).Data()); diff != "" {
		t.Errorf("data of another question (-want +got):\n%s", diff)
	}
}

// What user code does with an answer does not change it for who asks next.
func TestAnswersAreTheCallers(t *testing.T) {
	t.Parallel()
	ctx := hitl.WithAsker(t.Context(), answers{"key": map[string]any{"list": []any{"a"}}})
	first, err := hitl.Ask[map[string]any](ctx, "key", "Q?")
	if err != nil {
		t.Fatal(err)
	}
	clear(first["list"].([]any)) //nolint:errcheck // made above
	first["new"] = true
	second, err := hitl.Ask[any](ctx, "key", "Q?")
	if diff := cmp.Diff(any(map[string]any{"list": []any{"a"}}), second); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestAskErrors(t *testing.T) {
	t.Parallel()
	known := hitl.WithAsker(t.Context(), answers{"broken": errStore})
	cases := []struct {
		name string
		ctx  context.Context //nolint:containedctx // a table of contexts
		key  string
		want error
	}{
		{"no asker", t.Context(), "key", hitl.ErrNoAsker},
		{"a nil asker", hitl.WithAsker(t.Context(), nil), "key", hitl.ErrNoAsker},
		{"no key", known, "", hitl.ErrNoKey},
		{"the asker fails", known, "broken", errStore},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := hitl.Ask[string](tc.ctx, tc.key, "Q?")
			if !errors.Is(err, tc.want) || hitl.Find(err) != nil {
				t.Errorf("got %v, want %v, which is no question", err, tc.want)
			}
		})
	}
}

func TestAskerOfTheInnermostRun(t *testing.T) {
	t.Parallel()
	outer := hitl.WithAsker(t.Context(), answers{"key": "outer"})
	inner := hitl.WithAsker(outer, answers{"key": "inner"})
	for want, ctx := range map[string]context.Context{"outer": outer, "inner": inner} {
		if got, err := hitl.Ask[string](ctx, "key", "Q?"); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		if _, ok := hitl.AskerFrom(ctx); !ok {
			t.Errorf("%s: no asker", want)
		}
	}
	if a, ok := hitl.AskerFrom(t.Context()); ok || a != nil {
		t.Errorf("outside of a run: got %v", a)
	}
}

func TestAskConcurrently(t *testing.T) {
	t.Parallel()
	ctx := hitl.WithAsker(t.Context(), answers{"a": "1"})
	form := hitl.Payload(map[string]any{"min": 18})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			key := []string{"a", "b"}[n%2]
			got, err := hitl.Ask[int](ctx, key, "Q?", form)
			if key == "a" && (got != 1 || err != nil) || key == "b" && hitl.Find(err) == nil {
				t.Errorf("%s: got %d, %v", key, got, err)
			}
		})
	}
	wg.Wait()
}

func ExampleAsk() {
	greet := func(ctx context.Context) (string, error) {
		name, err := hitl.Ask[string](ctx, "name", "What is your name?")
		if err != nil {
			return "", fmt.Errorf("greet: %w", err)
		}
		return "Hello, " + name, nil
	}

	_, err := greet(hitl.WithAsker(context.Background(), answers{}))
	fmt.Println(err)
	text, _ := greet(hitl.WithAsker(context.Background(), answers{"name": "Ada"}))
	fmt.Println(text)
	// Output:
	// greet: input required: What is your name?
	// Hello, Ada
}
