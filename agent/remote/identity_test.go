package remote_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
)

// parked answers as an agent that asks a question, says once asked for the task
// that it is not there for three times, and ends with the answer.
func parked(asking string, gets, sends *atomic.Int32) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, method string) {
		switch {
		case method == "GetTask" && gets.Add(1) <= 3:
			w.WriteHeader(http.StatusBadGateway)
		case method == "GetTask":
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+asking+`}`)
		case sends.Add(1) == 1:
			sse(w, `{"task":`+asking+`}`)
		default:
			sse(w, chunk("a", "hello", false, true), status("TASK_STATE_COMPLETED", ""))
		}
	}
}

// TestAnswersOfAnotherTask: what is said of another task, or in another
// conversation, is a failure, in a stream, in an answer to a poll and to a
// resume; what is cancelled then is the call's own task.
func TestAnswersOfAnotherTask(t *testing.T) {
	t.Parallel()
	other := func(s string) string { return strings.ReplaceAll(s, "t-1", "t-2") }
	elsewhere := func(s string) string { return strings.ReplaceAll(s, "c-1", "c-2") }
	end := status("TASK_STATE_COMPLETED", "")
	snapshot := func(id string) string {
		return `{"jsonrpc":"2.0","id":"1","result":{"id":"` + id + `","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"another's"}]}]}}`
	}
	polled := func(w http.ResponseWriter, method string) {
		switch method {
		case "SendStreamingMessage":
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"no streams"}}`)
		case "SendMessage":
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+atWork+`}`)
		default:
			plainJSON(w, snapshot("t-2"))
		}
	}
	cases := []struct {
		name   string
		events []string // nil: asked again and again
		text   string
	}{
		{"an artifact", []string{atWork, chunk("a", "mine", false, false), other(chunk("b", "another's", false, true)), end}, "mine"},
		{"a status", []string{atWork, other(end)}, ""},
		{"a task", []string{atWork, other(atWork), end}, ""},
		{"a question", []string{atWork, other(status("TASK_STATE_INPUT_REQUIRED", "password?"))}, ""},
		{"a conversation", []string{atWork, elsewhere(end)}, ""},
		{"a message", []string{atWork, `{"message":{"messageId":"m","taskId":"t-2","role":"ROLE_AGENT","parts":[{"text":"another's"}]}}`}, ""},
		{"a poll", nil, ""},
		{"after a stream that broke", []string{atWork}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
				switch {
				case method == "CancelTask":
					plainJSON(w, notFound)
				case tc.events == nil:
					polled(w, method)
				case method == "SendStreamingMessage":
					sse(w, tc.events...)
				default:
					plainJSON(w, snapshot("t-2"))
				}
			})
			answer, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
			e := errcode.Default().Convert(err)
			const want = "remote_answer_invalid"
			if e.Code() != errcode.UpstreamUnavailable || e.Reason() != want || answer.Text() != tc.text || answer.TaskID != "t-1" {
				t.Errorf("got %v, %q of the task %q", err, answer.Text(), answer.TaskID)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if !slices.Equal(s.canceled, []string{"t-1"}) {
				t.Errorf("cancelled %q, want ours", s.canceled)
			}
		})
	}
}

// TestResumeThatFindsAnotherTask: the remote answers for another task when it is
// asked for the one that it parked.
func TestResumeThatFindsAnotherTask(t *testing.T) {
	t.Parallel()
	const asking = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"q","role":"ROLE_AGENT","parts":[{"text":"who?"}]}}}`
	var sends atomic.Int32
	s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
		switch method {
		case "SendStreamingMessage":
			sends.Add(1)
			sse(w, `{"task":`+asking+`}`)
		default:
			plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+strings.ReplaceAll(asking, "t-1", "t-2")+`}`)
		}
	})
	k := serve(t, streaming("front", to(t, s.url).Handle)).talk(t)
	k.say("go")
	if e := failureOf(t, k.say("secret")); e.Reason() != "remote_answer_invalid" || sends.Load() != 1 {
		t.Errorf("got %v after %d messages", e, sends.Load())
	}
}

// TestEmptyMessageIsNoAnswer: however it is empty.
func TestEmptyMessageIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"no parts":      `{"message":{"messageId":"m","role":"ROLE_AGENT"}}`,
		"a null part":   `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[null]}}`,
		"an empty text": `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":""}]}}`,
		"nothing":       `{"message":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, streams(message))
			_, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
			if e := errcode.Default().Convert(err); e.Reason() != "remote_answer_invalid" || len(s.methods()) != 1 || !errors.Is(err, remote.ErrOutcomeUnknown) {
				t.Errorf("got %v after %v", err, s.methods())
			}
		})
	}
}
