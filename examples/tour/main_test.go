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
	failed := &a2a.Task{Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}
	for name, w := range map[string]want{
		"another state":    {state: a2a.TaskStateCompleted},
		"another text":     {state: a2a.TaskStateFailed, text: "x"},
		"another code":     {state: a2a.TaskStateFailed, code: errcode.RateLimited},
		"another reason":   {state: a2a.TaskStateFailed, code: errcode.Internal, reason: "x"},
		"no delay":         {state: a2a.TaskStateFailed, code: errcode.Internal, reason: "remote_task_failed", retryMs: 1},
		"it was accepted":  {refused: a2a.ErrUnsupportedOperation},
		"nothing expected": {},
	} {
		if err := w.check(failed); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	if err := (want{refused: a2a.ErrUnsupportedOperation}).checkRefused(a2a.ErrTaskNotFound); err == nil {
		t.Error("another refusal: not noticed")
	}
	if err := (want{state: a2a.TaskStateFailed}).check(failed); err != nil {
		t.Errorf("as told: %v", err)
	}
}
