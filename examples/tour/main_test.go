package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/errcode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTour(t *testing.T) {
	var out bytes.Buffer
	if err := tour(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, s := range stories {
		if !strings.Contains(out.String(), s.title) {
			t.Errorf("the tour does not tell %q", s.title)
		}
	}
}

// TestTourNotices: a story that ends otherwise than told is told.
func TestTourNotices(t *testing.T) {
	data := errcode.Data{ErrorCode: errcode.Internal, ErrorReason: "remote_task_failed", ErrorMessage: "x", Domain: "showcase"}
	task := &a2a.Task{Status: a2a.TaskStatus{
		State:   a2a.TaskStateFailed,
		Message: a2a.NewMessage(a2a.MessageRoleAgent, data.Parts()...),
	}}
	for name, w := range map[string]want{
		"another state":    {state: a2a.TaskStateCompleted},
		"another artifact": {state: a2a.TaskStateFailed, artifacts: "x"},
		"another code":     failed(failure{code: errcode.RateLimited, reason: "remote_task_failed"}),
		"another reason":   failed(failure{code: errcode.Internal, reason: "x"}),
		"retriable":        failed(failure{code: errcode.Internal, reason: "remote_task_failed", retriable: true}),
		"no delay":         failed(failure{code: errcode.Internal, reason: "remote_task_failed", retryMs: 1}),
		"another source":   failed(failure{code: errcode.Internal, reason: "remote_task_failed", source: "db:x"}),
		"another domain":   failed(failure{code: errcode.Internal, reason: "remote_task_failed", domain: "x"}),
		"it was accepted":  {refused: a2a.ErrUnsupportedOperation},
		"nothing expected": {},
	} {
		if err := w.check(task); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	if err := (want{refused: a2a.ErrUnsupportedOperation}).checkRefused(a2a.ErrTaskNotFound); err == nil {
		t.Error("another refusal: not noticed")
	}
	if err := failed(failure{code: errcode.Internal, reason: "remote_task_failed"}).check(task); err != nil {
		t.Errorf("as told: %v", err)
	}
}
