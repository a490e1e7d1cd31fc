package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/stream"
)

func nothing(context.Context, *agent.Request) (*agent.Result, error) { return nil, nil }

func streamNothing(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
	return nil, nil
}

func TestErr(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		a    *agent.Agent
		want []string // what the error says; none: no error
	}{
		{"invoke", agent.New("a", agent.Invoke(nothing)), nil},
		{"stream", agent.New("a", agent.Stream(streamNothing)), nil},
		{"both, and everything else", agent.New("a", agent.Invoke(nothing), agent.Stream(streamNothing), agent.Description("d"), agent.Option{}), nil},
		{"no agent", nil, []string{"expected an agent"}},
		{"no name", agent.New("", agent.Invoke(nothing)), []string{"name"}},
		{"a blank name", agent.New(" \t", agent.Invoke(nothing)), []string{"name"}},
		{"no code", agent.New("a"), []string{"agent.Invoke"}},
		{"a nil Invoke", agent.New("a", agent.Invoke(nil), agent.Stream(streamNothing)), []string{"Invoke: expected a function"}},
		{"a nil Validate", agent.New("a", agent.Invoke(nothing), agent.Validate(nil)), []string{"Validate: expected a function"}},
		{"a nil Stream", agent.New("a", agent.Invoke(nothing), agent.Stream(nil)), []string{"Stream: expected a function"}},
		{"a nil text function", agent.New("a", agent.Invoke(agent.TextFunc(nil))), []string{"Invoke: expected a function"}},
		{"a nil data function", agent.New("a", agent.Invoke(agent.DataFunc[int, int](nil))), []string{"Invoke: expected a function"}},
		{"everything at once", agent.New("", agent.Invoke(nil), agent.Stream(nil)), []string{"name", "Invoke: expected", "Stream: expected", "agent.Invoke, agent.Stream or both, or agent.Flow"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.a.Err()
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestAccessors(t *testing.T) {
	t.Parallel()
	refuse := errors.New("refused")
	a := agent.New("Bank Teller", agent.Invoke(nothing), agent.Stream(streamNothing),
		agent.Validate(func(context.Context, *agent.Request) error { return refuse }))
	if a.Name() != "Bank Teller" || a.Description() != "Bank Teller" {
		t.Errorf("got %q, %q, want the name for both", a.Name(), a.Description())
	}
	if a.InvokeFunc() == nil || a.StreamFunc() == nil || !errors.Is(a.ValidateFunc()(t.Context(), nil), refuse) {
		t.Error("a function is lost")
	}
	b := agent.New("b", agent.Description("keeps accounts"))
	if b.Description() != "keeps accounts" || b.InvokeFunc() != nil || b.StreamFunc() != nil || b.ValidateFunc() != nil {
		t.Errorf("got %q and functions nobody gave", b.Description())
	}
}

func TestTextFunc(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	cases := []struct {
		name, out string
		err       error
		want      []string
	}{
		{"text", "HELLO", nil, []string{"HELLO"}},
		{"nothing", "", nil, nil},
		{"error", "partial", failure, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := agent.TextFunc(func(_ context.Context, in string) (string, error) {
				if in != "hello" {
					t.Errorf("in: got %q", in)
				}
				return tc.out, tc.err
			})
			res, err := f(t.Context(), requestOf(a2a.NewTextPart("hello")))
			if !errors.Is(err, tc.err) || tc.err == nil && err != nil {
				t.Errorf("error: got %v, want %v", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, partTexts(res)); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
		})
	}
}

func partTexts(res *agent.Result) []string {
	var out []string
	if res == nil {
		return nil
	}
	for _, a := range res.Artifacts {
		for _, p := range a.Parts {
			out = append(out, p.Text())
		}
	}
	return out
}

func TestDataFunc(t *testing.T) {
	t.Parallel()
	type in struct {
		ID string `json:"id" validate:"required"`
	}
	failure := errors.New("failure")
	calls := 0
	f := agent.DataFunc(func(_ context.Context, in *in) ([]string, error) {
		calls++
		switch in.ID {
		case "fail":
			return nil, failure
		case "unknown":
			return nil, nil
		}
		return []string{in.ID}, nil
	})
	call := func(v any) (*agent.Result, error) {
		return f(t.Context(), requestOf(a2a.NewDataPart(v)))
	}

	res, err := call(map[string]any{"id": "x"})
	if err != nil || !cmp.Equal(res.Artifacts[0].Parts[0].Data(), any([]any{"x"})) {
		t.Errorf("got %+v, %v", res, err)
	}
	res, err = call(map[string]any{"id": "unknown"})
	if err != nil || !cmp.Equal(res.Artifacts[0].Parts[0].Data(), any([]any{})) {
		t.Errorf("nothing found: got %+v, %v, want an empty list", res, err)
	}
	if res, err = call(map[string]any{"id": "fail"}); !errors.Is(err, failure) || res != nil {
		t.Errorf("got %v, %v, want the function's error", res, err)
	}
	before := calls
	for _, bad := range []any{map[string]any{}, map[string]any{"id": 1}, "x"} {
		if _, err := call(bad); errcode.CodeOf(err) != errcode.InvalidInput {
			t.Errorf("%v: got %v", bad, err)
		}
	}
	if _, err := f(t.Context(), requestOf()); errcode.CodeOf(err) != errcode.InvalidInput {
		t.Errorf("no data part: got %v", err)
	}
	if calls != before {
		t.Error("the function was called with what does not fit")
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	file := stream.File{Name: "f", Bytes: []byte("xyz")}
	named := agent.Artifact{Name: "n", Parts: []stream.Part{stream.TextPart("x")}, Metadata: map[string]any{"a": 1}}
	one := func(ps ...stream.Part) *agent.Result {
		return &agent.Result{Artifacts: []agent.Artifact{{Parts: ps}}}
	}
	cases := []struct {
		name      string
		got, want *agent.Result
	}{
		{"text", agent.Text("x"), one(stream.TextPart("x"))},
		{"no text", agent.Text(""), &agent.Result{}},
		{"data", agent.Data(map[string]int{"n": 1}), one(stream.DataPart(map[string]any{"n": 1}))},
		{"an empty list", agent.Data([]int(nil)), one(stream.DataPart([]any{}))},
		{"files", agent.Files(file, file), one(stream.FilePart(file), stream.FilePart(file))},
		{"artifacts", agent.Artifacts(named, agent.Artifact{}), &agent.Result{Artifacts: []agent.Artifact{named, {}}}},
		{"no artifacts", agent.Artifacts(), &agent.Result{}},
		{"rejected", agent.Rejected("too old"), &agent.Result{Rejected: true, Note: "too old"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got, cmp.AllowUnexported(stream.Part{})); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// What an author does with a value after handing it over is not seen.
func TestResultsAreTakenAtOnce(t *testing.T) {
	t.Parallel()
	value, bytes := map[string]any{"n": "kept"}, []byte("kept")
	data, files := agent.Data(value), agent.Files(stream.File{Bytes: bytes})
	value["n"], bytes[0] = "changed", 'X'
	if got := data.Artifacts[0].Parts[0].Data(); !cmp.Equal(got, any(map[string]any{"n": "kept"})) {
		t.Errorf("data: got %v", got)
	}
	if got := files.Artifacts[0].Parts[0].File().Bytes; string(got) != "kept" {
		t.Errorf("bytes: got %q", got)
	}
}
