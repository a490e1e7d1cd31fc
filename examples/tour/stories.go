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
	state   a2a.TaskState
	text    string // all artifacts together
	code    errcode.Code
	reason  string
	retryMs int64 // 0: absent
	refused error
}

var stories = []story{
	{
		title: "All is well.",
		say:   []string{"ok"},
		want:  want{state: a2a.TaskStateCompleted, text: "ok"},
	},
	{
		title:  "All is well, streamed: the chunks arrive as they are written.",
		say:    []string{"stream 3"},
		stream: true,
		want:   want{state: a2a.TaskStateCompleted, text: "chunk-1 chunk-2 chunk-3 "},
	},
	{
		title: "A service answers 429 with Retry-After: 30. The agent's code just returns that error.",
		say:   []string{"error http-429"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.RateLimited, reason: "http_status_error", retryMs: 30_000},
	},
	{
		title: "A connection is really refused.",
		say:   []string{"error dial"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.UpstreamUnavailable, reason: "connection_refused"},
	},
	{
		title: "The author says it all: code, reason, message, delay, source, domain.",
		say:   []string{"app"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.RateLimited, reason: "classifier_quota_exceeded", retryMs: 60_000},
	},
	{
		title:  "A stream breaks half-way: what was written stays, the artifact is closed, the task failed.",
		say:    []string{"stream-fail 2"},
		stream: true,
		want:   want{state: a2a.TaskStateFailed, text: "chunk-1 chunk-2 ", code: errcode.UpstreamUnavailable, reason: "component_invoke_error"},
	},
	{
		title: "The agent's code panics. Neither the value nor the stack leaves the process.",
		say:   []string{"error panic"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.Internal, reason: "panic"},
	},
	{
		title: "An error's text holds a bearer token and a password. They are masked.",
		say:   []string{"error secret"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.Internal, reason: "internal_error"},
	},
	{
		title: "The author's error breaks the rules of the wire data. An answer goes out all the same.",
		say:   []string{"bad-data"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.Internal, reason: "error_data_build_failed"},
	},
	{
		title: "A guardrail blocks the answer: the client learns which, and keeps no artifact.",
		say:   []string{"error guardrail"},
		want:  want{state: a2a.TaskStateFailed, code: errcode.GuardrailBlocked, reason: "guardrail_blocked_error"},
	},
	{
		title: "Nothing found is a result, not a failure.",
		say:   []string{"empty"},
		want:  want{state: a2a.TaskStateCompleted},
	},
	{
		title: "The agent asks, the task waits, the next message resumes it.",
		say:   []string{"ask", "Ada"},
		want:  want{state: a2a.TaskStateCompleted, text: "you said: Ada"},
	},
	{
		title: "A message to a task that has ended is refused, on the protocol layer.",
		say:   []string{"ok", "and another thing"},
		want:  want{refused: a2a.ErrUnsupportedOperation},
	},
}

func (w want) check(task *a2a.Task) error {
	var wrong []error
	differ := func(what string, got, want any) {
		if got != want {
			wrong = append(wrong, fmt.Errorf("%s: got %v, want %v", what, got, want))
		}
	}
	if w.refused != nil {
		return fmt.Errorf("accepted, expected to be refused with: %w", w.refused)
	}
	differ("state", task.Status.State, w.state)
	if w.text != "" {
		differ("text", artifactText(task), w.text)
	}
	raw, err := json.Marshal(task)
	if err != nil {
		return err
	}
	for _, secret := range showcase.Secrets() {
		if strings.Contains(string(raw), secret) {
			wrong = append(wrong, fmt.Errorf("the task holds the secret %q", secret))
		}
	}
	if w.code != "" {
		wrong = append(wrong, w.checkFailure(task)...)
	}
	return errors.Join(wrong...)
}

// checkFailure decodes the failure as a client that uses the SDK would.
func (w want) checkFailure(task *a2a.Task) []error {
	failure, failed := errcode.FromTask(task)
	if !failed {
		return []error{errors.New("no failure")}
	}
	var wrong []error
	if !errcode.Is(failure, w.code) || failure.Reason() != w.reason {
		wrong = append(wrong, fmt.Errorf("failure: got %s %s, want %s %s", failure.Code(), failure.Reason(), w.code, w.reason))
	}
	delay, _ := failure.RetryAfter()
	if delay.Milliseconds() != w.retryMs {
		wrong = append(wrong, fmt.Errorf("retryAfterMs: got %d, want %d", delay.Milliseconds(), w.retryMs))
	}
	return wrong
}

func (w want) checkRefused(err error) error {
	if w.refused == nil || !errors.Is(err, w.refused) {
		return fmt.Errorf("refused: %w", err)
	}
	return nil
}

func artifactText(task *a2a.Task) string {
	var b strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text())
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
