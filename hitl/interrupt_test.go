package hitl_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/hitl"
)

func TestData(t *testing.T) {
	t.Parallel()
	type form struct {
		Format string `json:"format"`
	}
	cases := []struct {
		name    string
		ask     *hitl.Interrupt
		want    map[string]any
		dropped int
	}{
		{"no payload", hitl.InputRequired("Q?"), map[string]any{"question": "Q?"}, 0},
		{
			"an object's members are the data's", hitl.InputRequired("Q?", hitl.Payload(form{"YYYY"})),
			map[string]any{"question": "Q?", "format": "YYYY"},
			0,
		},
		{
			"the payload's own question wins", hitl.InputRequired("Q?", hitl.Payload(map[string]any{"question": "long form"})),
			map[string]any{"question": "long form"},
			0,
		},
		{
			"any other value is under value", hitl.InputRequired("Q?", hitl.Payload([]string{"a", "b"})),
			map[string]any{"question": "Q?", "value": []any{"a", "b"}},
			0,
		},
		{"a nil payload is none", hitl.InputRequired("Q?", hitl.Payload(nil)), map[string]any{"question": "Q?"}, 0},
		{"a nil pointer is none", hitl.InputRequired("Q?", hitl.Payload((*form)(nil))), map[string]any{"question": "Q?"}, 0},
		{"a nil map is none", hitl.InputRequired("Q?", hitl.Payload(map[string]any(nil))), map[string]any{"question": "Q?"}, 0},
		{"the last payload counts", hitl.InputRequired("Q?", hitl.Payload(1), hitl.Payload(map[string]any{"a": 1})), map[string]any{"question": "Q?", "a": 1.0}, 0},
		{
			"what JSON cannot express is left out", hitl.InputRequired("Q?", hitl.Payload(map[string]any{"a": 1, "ch": make(chan int)})),
			map[string]any{"question": "Q?", "a": 1.0},
			1,
		},
		{
			"and of a memo", hitl.InputRequired("Q?", hitl.Memo(map[string]any{"f": func() {}}), hitl.Payload(map[string]any{"ch": make(chan int), "a": 1})),
			map[string]any{"question": "Q?", "a": 1.0},
			2,
		},
		{"nothing JSON can express", hitl.InputRequired("Q?", hitl.Payload(make(chan int))), map[string]any{"question": "Q?"}, 1},
		{"no prompt", hitl.InputRequired(""), map[string]any{"question": "Input is required."}, 0},
		{"a prompt that is not UTF-8", hitl.InputRequired("Q\xff"), map[string]any{"question": "Q\uFFFD"}, 0},
		{"an id", hitl.InputRequired("Q?", hitl.ID("q1")), map[string]any{"question": "Q?", "id": "q1"}, 0},
		{
			"a payload does not hide the question's id", hitl.InputRequired("Q?", hitl.ID("q1"), hitl.Payload(map[string]any{"id": 7, "payload": 1, "a": 2})),
			map[string]any{"question": "Q?", "id": "q1", "a": 2.0, "payload": map[string]any{"id": 7.0, "payload": 1.0}},
			0,
		},
		{
			"nor what is told of credentials", hitl.AuthRequired("Q?", hitl.AuthURL("https://a.example"), hitl.Payload(map[string]any{"url": "u", "id": 7})),
			map[string]any{"question": "Q?", "id": 7.0, "url": "https://a.example", "payload": map[string]any{"url": "u"}},
			0,
		},
		{"an id that is not UTF-8", hitl.InputRequired("Q?", hitl.ID("\xff")), map[string]any{"question": "Q?", "id": "\uFFFD"}, 0},
		{"zero option", hitl.InputRequired("Q?", hitl.Option{}), map[string]any{"question": "Q?"}, 0},
		{"zero question", &hitl.Interrupt{}, map[string]any{"question": ""}, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.ask.Data()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if got := tc.ask.Dropped(); len(got) != tc.dropped {
				t.Errorf("dropped: got %q, want %d entries", got, tc.dropped)
			}
		})
	}
}

func TestNilInterrupt(t *testing.T) {
	t.Parallel()
	var ask *hitl.Interrupt
	if ask.Error() != "input required" || ask.Prompt() != "" || ask.ID() != "" || ask.Data() != nil || ask.Dropped() != nil {
		t.Errorf("got %q %q %v %v", ask.Error(), ask.Prompt(), ask.Data(), ask.Dropped())
	}
}

func TestErrorSaysWhatIsAsked(t *testing.T) {
	t.Parallel()
	ask := hitl.InputRequired("Which account?")
	if got := fmt.Errorf("transfer: %w", ask).Error(); got != "transfer: input required: Which account?" {
		t.Errorf("got %q", got)
	}
	if got := ask.Prompt(); got != "Which account?" {
		t.Errorf("prompt: got %q", got)
	}
}

// A question is immutable although its payload and its data are maps.
func TestQuestionIsIsolated(t *testing.T) {
	t.Parallel()
	nested := map[string]any{"choices": []any{"a", "b"}}
	payload := map[string]any{"form": nested, "ch": make(chan int)}
	ask := hitl.InputRequired("Q?", hitl.Payload(payload))
	want := map[string]any{"question": "Q?", "form": map[string]any{"choices": []any{"a", "b"}}}

	delete(payload, "form")
	nested["choices"] = "changed"
	if diff := cmp.Diff(want, ask.Data()); diff != "" {
		t.Errorf("after the payload was changed (-want +got):\n%s", diff)
	}

	got := ask.Data()
	got["question"] = "changed"
	form, _ := got["form"].(map[string]any)
	choices, _ := form["choices"].([]any)
	choices[0] = "changed"
	form["new"] = true
	if diff := cmp.Diff(want, ask.Data()); diff != "" {
		t.Errorf("after a caller changed its data (-want +got):\n%s", diff)
	}

	ask.Dropped()[0] = "changed"
	if got := ask.Dropped()[0]; got == "changed" {
		t.Error("a caller changed what was dropped")
	}
}

func TestQuestionsAreKeptApart(t *testing.T) {
	t.Parallel()
	a, b := hitl.InputRequired("same"), hitl.InputRequired("same")
	if errors.Is(a, b) || !errors.Is(fmt.Errorf("wrapped: %w", a), a) {
		t.Error("a question must be equal to itself only")
	}
	var found *hitl.Interrupt
	if !errors.As(fmt.Errorf("wrapped: %w", a), &found) || found != a {
		t.Errorf("errors.As: got %v", found)
	}
}
