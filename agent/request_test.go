package agent_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

func TestContent(t *testing.T) {
	t.Parallel()
	type typed struct {
		N int `json:"n"`
	}
	cases := []struct {
		name  string
		parts []*a2a.Part
		text  string
		data  []any
		files []stream.File
	}{
		{name: "no parts", data: []any{}},
		{name: "one text", parts: []*a2a.Part{a2a.NewTextPart("a")}, text: "a", data: []any{}},
		{
			name:  "several texts are lines",
			parts: []*a2a.Part{a2a.NewTextPart("a"), a2a.NewDataPart("x"), a2a.NewTextPart(""), a2a.NewTextPart("b")},
			text:  "a\n\nb", data: []any{"x"},
		},
		{
			name: "data of every kind, in order",
			parts: []*a2a.Part{
				a2a.NewDataPart(map[string]any{"a": 1.0}), a2a.NewDataPart([]any{true}), a2a.NewDataPart(nil), a2a.NewDataPart(2.5),
			},
			data: []any{map[string]any{"a": 1.0}, []any{true}, nil, 2.5},
		},
		{
			name:  "data a test passed as Go values is plain, as it is in production",
			parts: []*a2a.Part{a2a.NewDataPart(typed{1}), a2a.NewDataPart(map[string]int{"n": 2}), a2a.NewDataPart([]any{typed{3}})},
			data:  []any{map[string]any{"n": 1.0}, map[string]any{"n": 2.0}, []any{map[string]any{"n": 3.0}}},
		},
		{
			name: "files by bytes and by address",
			parts: []*a2a.Part{
				{Content: a2a.Raw("xyz"), Filename: "f.txt", MediaType: "text/plain"},
				{Content: a2a.URL("https://example.com/g"), Filename: "g"},
			},
			data: []any{},
			files: []stream.File{
				{Name: "f.txt", MediaType: "text/plain", Bytes: []byte("xyz")},
				{Name: "g", URI: "https://example.com/g"},
			},
		},
		{name: "parts without content", parts: []*a2a.Part{nil, {}, a2a.NewTextPart("a")}, text: "a", data: []any{}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := requestOf(tc.parts...)
			if got := req.Text(); got != tc.text {
				t.Errorf("text: got %q, want %q", got, tc.text)
			}
			if diff := cmp.Diff(tc.data, req.Data()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.files, req.Files()); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	user, bot := a2a.MessageRoleUser, a2a.MessageRoleAgent
	current := said("m9", user, "current")
	parked := func(state a2a.TaskState, question *a2a.Message, history ...*a2a.Message) *a2a.Task {
		return &a2a.Task{ID: "t", History: history, Status: a2a.TaskStatus{State: state, Message: question}}
	}
	cases := []struct {
		name     string
		current  *a2a.Message
		task     *a2a.Task
		history  []string
		original string
		prompt   string
		asked    bool
	}{
		{name: "a new task", current: current, history: []string{}, original: "current"},
		{
			name: "a new task as stored", current: current,
			task:    &a2a.Task{ID: "t", History: []*a2a.Message{current}, Status: a2a.TaskStatus{State: a2a.TaskStateSubmitted}},
			history: []string{}, original: "current",
		},
		{
			name: "the answer to a question", current: current,
			task:    parked(a2a.TaskStateInputRequired, said("q1", bot, "question"), said("m1", user, "original"), current),
			history: []string{"original", "question"}, original: "original", prompt: "question", asked: true,
		},
		{
			name: "the second answer", current: current,
			task: parked(a2a.TaskStateInputRequired, said("q2", bot, "question 2"),
				said("m1", user, "original"), said("q1", bot, "question 1"), said("m2", user, "answer 1"), current),
			history: []string{"original", "question 1", "answer 1", "question 2"}, original: "original", prompt: "question 2", asked: true,
		},
		{
			name: "the answer is not stored yet", current: current,
			task:    parked(a2a.TaskStateInputRequired, said("q1", bot, "question"), said("m1", user, "original")),
			history: []string{"original", "question"}, original: "original", prompt: "question", asked: true,
		},
		{
			name: "the answer is stored as a copy", current: current,
			task:    parked(a2a.TaskStateInputRequired, said("q1", bot, "question"), said("m1", user, "original"), said("m9", user, "current")),
			history: []string{"original", "question"}, original: "original", prompt: "question", asked: true,
		},
		{
			name: "asked to authenticate", current: current,
			task:    parked(a2a.TaskStateAuthRequired, said("q1", bot, "sign in"), said("m1", user, "original")),
			history: []string{"original", "sign in"}, original: "original", prompt: "sign in", asked: true,
		},
		{
			name: "parked without a word", current: current,
			task:    parked(a2a.TaskStateInputRequired, nil, said("m1", user, "original")),
			history: []string{"original"}, original: "original",
		},
		{
			name: "a status that is no question", current: current,
			task:    parked(a2a.TaskStateWorking, said("p1", bot, "half way"), said("m1", user, "original")),
			history: []string{"original", "half way"}, original: "original",
		},
		{
			name: "messages without an id", current: said("", user, "current"),
			task:    parked(a2a.TaskStateInputRequired, said("", bot, "question"), said("", user, "original"), nil),
			history: []string{"original", "question"}, original: "original", prompt: "question", asked: true,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			req := agent.NewRequest(agent.RequestInfo{Message: tc.current, Task: tc.task})
			if diff := cmp.Diff(tc.history, texts(req.History())); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tc.original}, texts([]*a2a.Message{req.Original()})); diff != "" {
				t.Errorf("original (-want +got):\n%s", diff)
			}
			q, asked := req.Question()
			if q.Prompt != tc.prompt || asked != tc.asked {
				t.Errorf("question: got %q, %v, want %q, %v", q.Prompt, asked, tc.prompt, tc.asked)
			}
			if got := req.Task() != nil; got != (tc.task != nil) {
				t.Errorf("task: got one: %v", got)
			}
		})
	}
}

func TestQuestionData(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		parts []*a2a.Part
		want  agent.Question
	}{
		{"text only", []*a2a.Part{a2a.NewTextPart("Q?")}, agent.Question{Prompt: "Q?"}},
		{
			"the first object is the data",
			[]*a2a.Part{a2a.NewTextPart("Q?"), a2a.NewDataPart("no object"), a2a.NewDataPart(map[string]any{"a": 1.0}), a2a.NewDataPart(map[string]any{"b": 2.0})},
			agent.Question{Prompt: "Q?", Data: map[string]any{"a": 1.0}},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			task := &a2a.Task{Status: a2a.TaskStatus{State: a2a.TaskStateInputRequired, Message: message(tc.parts...)}}
			got, ok := agent.NewRequest(agent.RequestInfo{Message: message(), Task: task}).Question()
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok {
				t.Errorf("question, found %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name             string
		request, message map[string]any
		want             map[string]any
	}{
		{"none", nil, nil, map[string]any{}},
		{"of the request", map[string]any{"a": "r"}, nil, map[string]any{"a": "r"}},
		{"of the message", nil, map[string]any{"a": "m"}, map[string]any{"a": "m"}},
		{
			"the message's is laid over the request's",
			map[string]any{"a": "r", "b": "r"},
			map[string]any{"b": "m", "c": "m"},
			map[string]any{"a": "r", "b": "m", "c": "m"},
		},
		{
			"whole members are laid over, not merged",
			map[string]any{"a": map[string]any{"x": 1.0}},
			map[string]any{"a": map[string]any{"y": 2.0}},
			map[string]any{"a": map[string]any{"y": 2.0}},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := message()
			m.Metadata = tc.message
			req := agent.NewRequest(agent.RequestInfo{Message: m, Metadata: tc.request})
			if diff := cmp.Diff(tc.want, req.Metadata()); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsKnownAroundAMessage(t *testing.T) {
	t.Parallel()
	req := agent.NewRequest(agent.RequestInfo{
		Message: message(), TaskID: "t", ContextID: "c", Tenant: "acme", Streaming: true,
		User:                agent.User{Name: "ada", Authenticated: true, Attributes: map[string]any{"role": "admin"}},
		AcceptedOutputModes: []string{"text/plain"},
	})
	got := []any{req.TaskID(), req.ContextID(), req.Tenant(), req.Streaming(), req.User(), req.AcceptedOutputModes()}
	want := []any{
		"t", "c", "acme", true,
		agent.User{Name: "ada", Authenticated: true, Attributes: map[string]any{"role": "admin"}},
		[]string{"text/plain"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Authors call their functions in unit tests with as little as they can.
func TestEmptyRequests(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*agent.Request{
		"zero":               {},
		"without a message":  agent.NewRequest(agent.RequestInfo{}),
		"without any part":   requestOf(),
		"with an empty task": agent.NewRequest(agent.RequestInfo{Task: &a2a.Task{}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if req.Text() != "" || len(req.Data()) != 0 || len(req.Files()) != 0 || len(req.History()) != 0 {
				t.Errorf("content: got %q %v %v %v", req.Text(), req.Data(), req.Files(), req.History())
			}
			if m := req.Metadata(); m == nil || len(m) != 0 {
				t.Errorf("metadata: got %v, want an empty map", m)
			}
			if _, ok := req.Question(); ok {
				t.Error("a question where nothing was asked")
			}
			if req.User().Authenticated || req.Streaming() || len(req.AcceptedOutputModes()) != 0 {
				t.Error("an empty request knows something")
			}
			if err := req.Decode(new(map[string]any)); err == nil {
				t.Error("decoded nothing")
			}
			_, _, _ = req.Message(), req.Original(), req.Task()
		})
	}
}
