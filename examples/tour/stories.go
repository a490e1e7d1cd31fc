package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/examples/internal/showcase"
)

// story is one thing a client can live through with an agent.
type story struct {
	title  string
	say    []string
	stream bool
	want   want
}

// want is how a story ends.
type want struct {
	state     a2a.TaskState
	artifacts string // their parts as JSON, or their text; "": none
	failure   *failure
	refused   error
}

// failure is what a failed task says to programs.
type failure struct {
	code           errcode.Code
	reason         string
	retriable      bool
	retryMs        int64 // 0: absent
	source, domain string
}

var stories = []story{
	{
		title: "All is well.",
		say:   []string{"ok"},
		want:  want{state: a2a.TaskStateCompleted, artifacts: "ok"},
	},
	{
		title:  "All is well, streamed: the chunks arrive as they are written.",
		say:    []string{"stream 3"},
		stream: true,
		want:   want{state: a2a.TaskStateCompleted, artifacts: "chunk-1 chunk-2 chunk-3 "},
	},
	{
		title: "A service answers 429 with Retry-After: 30. The agent's code just returns that error.",
		say:   []string{"error http-429"},
		want:  failed(failure{code: errcode.RateLimited, reason: "http_status_error", retriable: true, retryMs: 30_000}),
	},
	{
		title: "A connection is really refused.",
		say:   []string{"error dial"},
		want:  failed(failure{code: errcode.UpstreamUnavailable, reason: "connection_refused", retriable: true}),
	},
	{
		title: "The author says it all: code, reason, message, delay, source, domain.",
		say:   []string{"app"},
		want: failed(failure{
			code: errcode.RateLimited, reason: "classifier_quota_exceeded", retriable: true, retryMs: 60_000,
			source: "llm:gpt/classify", domain: "subject-management",
		}),
	},
	{
		title:  "A stream breaks half-way: what was written stays, the artifact is closed, the task failed.",
		say:    []string{"stream-fail 2"},
		stream: true,
		want: want{
			state: a2a.TaskStateFailed, artifacts: "chunk-1 chunk-2 ",
			failure: &failure{code: errcode.UpstreamUnavailable, reason: "component_invoke_error", retriable: true},
		},
	},
	{
		title:  "A guardrail blocks a stream half-way: the client learns which, and the task keeps no artifact.",
		say:    []string{"stream-guardrail 2"},
		stream: true,
		want:   failed(failure{code: errcode.GuardrailBlocked, reason: "guardrail_blocked_error", source: "guardrail:personal-data"}),
	},
	{
		title: "The agent's code panics. Neither the value nor the stack leaves the process.",
		say:   []string{"error panic"},
		want:  failed(failure{code: errcode.Internal, reason: "panic"}),
	},
	{
		title: "An error's text holds a bearer token and a password. They are masked.",
		say:   []string{"error secret"},
		want:  failed(failure{code: errcode.Internal, reason: "internal_error"}),
	},
	{
		title: "The author's error breaks the rules of the wire data. An answer goes out all the same.",
		say:   []string{"bad-data"},
		want:  failed(failure{code: errcode.Internal, reason: "error_data_build_failed"}),
	},
	{
		title: "Nothing found is a result, not a failure.",
		say:   []string{"empty"},
		want:  want{state: a2a.TaskStateCompleted, artifacts: `{"found":0}`},
	},
	{
		title: "The agent asks, the task waits, the next message resumes it.",
		say:   []string{"ask", "Ada"},
		want:  want{state: a2a.TaskStateCompleted, artifacts: "you said: Ada"},
	},
	{
		title: "A message to a task that has ended is refused, on the protocol layer.",
		say:   []string{"ok", "and another thing"},
		want:  want{refused: a2a.ErrUnsupportedOperation},
	},
}

func failed(f failure) want { return want{state: a2a.TaskStateFailed, failure: &f} }

func (w want) check(task *a2a.Task) error {
	if w.refused != nil {
		return fmt.Errorf("accepted, expected to be refused with: %w", w.refused)
	}
	var wrong []error
	differ(&wrong, "state", task.Status.State, w.state)
	differ(&wrong, "artifacts", contentOf(task), w.artifacts)
	raw, err := json.Marshal(task)
	if err != nil {
		return err
	}
	for _, secret := range showcase.Secrets() {
		if strings.Contains(string(raw), secret) {
			wrong = append(wrong, fmt.Errorf("the task holds the secret %q", secret))
		}
	}
	if w.failure != nil {
		w.failure.check(&wrong, task)
	}
	return errors.Join(wrong...)
}

func differ(wrong *[]error, what string, got, want any) {
	if got != want {
		*wrong = append(*wrong, fmt.Errorf("%s: got %v, want %v", what, got, want))
	}
}

// check decodes the failure as a client that uses the SDK would.
func (f failure) check(wrong *[]error, task *a2a.Task) {
	got, failed := errcode.FromTask(task)
	if !failed {
		*wrong = append(*wrong, errors.New("no failure"))
		return
	}
	delay, _ := got.RetryAfter()
	domain := f.domain
	if domain == "" {
		domain = "showcase"
	}
	differ(wrong, "errcode.Is", errcode.Is(got, f.code), true)
	differ(wrong, "errorReason", got.Reason(), f.reason)
	differ(wrong, "retriable", got.Retriable(), f.retriable)
	differ(wrong, "retryAfterMs", delay.Milliseconds(), f.retryMs)
	differ(wrong, "errorSource", got.Source(), f.source)
	differ(wrong, "domain", got.Domain(), domain)
}

func (w want) checkRefused(err error) error {
	if w.refused == nil || !errors.Is(err, w.refused) {
		return fmt.Errorf("refused: %w", err)
	}
	return nil
}

// contentOf is the parts of all artifacts put together, texts as they are.
func contentOf(task *a2a.Task) string {
	var b strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			if p.Data() == nil {
				b.WriteString(p.Text())
				continue
			}
			raw, err := json.Marshal(p.Data())
			if err != nil {
				return err.Error()
			}
			b.Write(raw)
		}
	}
	return b.String()
}

// showEvent prints one event of a stream.
func showEvent(out io.Writer, ev a2a.Event) {
	switch ev := ev.(type) {
	case *a2a.Task:
		printf(out, "   .. task, %s\n", stateName(ev.Status.State))
	case *a2a.TaskStatusUpdateEvent:
		printf(out, "   .. status, %s\n", stateName(ev.Status.State))
	case *a2a.TaskArtifactUpdateEvent:
		last := ""
		if ev.LastChunk {
			last = ", the last chunk"
		}
		printf(out, "   .. artifact %s%s\n", partsText(ev.Artifact.Parts), last)
	}
}

// show prints a task as the client has it in the end.
func show(out io.Writer, task *a2a.Task) {
	printf(out, "   <- state:    %s\n", stateName(task.Status.State))
	if m := task.Status.Message; m != nil {
		for _, p := range m.Parts {
			printf(out, "      %-9s %s\n", partName(p)+":", partText(p))
		}
	}
	for _, a := range task.Artifacts {
		printf(out, "      artifact: %s\n", partsText(a.Parts))
	}
}

func stateName(s a2a.TaskState) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s), "TASK_STATE_"), "_", "-"))
}

func partName(p *a2a.Part) string {
	if p.Data() != nil {
		return "data"
	}
	return "text"
}

func partText(p *a2a.Part) string {
	if p.Data() == nil {
		return p.Text()
	}
	raw, err := json.MarshalIndent(p.Data(), strings.Repeat(" ", 16), "  ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func partsText(ps a2a.ContentParts) string {
	var texts []string
	for _, p := range ps {
		if p.Data() == nil {
			texts = append(texts, fmt.Sprintf("%q", p.Text()))
			continue
		}
		raw, err := json.Marshal(p.Data())
		if err != nil {
			raw = []byte(err.Error())
		}
		texts = append(texts, string(raw))
	}
	return strings.Join(texts, " + ")
}
