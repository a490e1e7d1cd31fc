package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
)

// polled is a server that cannot stream; get answers how far the task is, nth
// counting from 1.
func polled(t *testing.T, get func(w http.ResponseWriter, nth int)) *evil {
	t.Helper()
	var gets atomic.Int64
	return answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
		switch method {
		case "SendMessage":
			rpc(w, `{"task":`+taskIs("WORKING", "")+`}`)
		case "GetTask":
			get(w, int(gets.Add(1)))
		case "CancelTask":
			rpc(w, taskIs("CANCELED", ""))
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32004,"message":"no streams"}}`)
		}
	})
}

func rpc(w http.ResponseWriter, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"1","result":%s}`, result)
}

func taskIs(state, said string) string {
	message := ""
	if said != "" {
		message = fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[{"text":%q}]}`, said[:1], said)
	}
	return fmt.Sprintf(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_%s"%s}}`, state, message)
}

// TestPollHiccup: a task whose state cannot be read for a moment was cancelled.
func TestPollHiccup(t *testing.T) {
	t.Parallel()
	s := polled(t, func(w http.ResponseWriter, nth int) {
		if nth <= 2 {
			answerOnce(503, "Retry-After: 0", "")(w, nil, "")
			return
		}
		rpc(w, taskIs("COMPLETED", ""))
	})
	if _, err := to(t, s.url).Call(t.Context(), remote.Text("x")); err != nil {
		t.Errorf("got %v", err)
	}
	if len(s.canceled) > 0 {
		t.Error("the task was cancelled")
	}
}

// TestPollThatStaysDown ends all the same, and so does one that is refused.
func TestPollThatStaysDown(t *testing.T) {
	t.Parallel()
	for code, most := range map[int]int{503: 8, 403: 3} {
		s := polled(t, func(w http.ResponseWriter, _ int) { answerOnce(code, "Retry-After: 0", "")(w, nil, "") })
		_, err := to(t, s.url).Call(t.Context(), remote.Text("x"))
		gets := 0
		for _, m := range s.methods() {
			if m == "GetTask" {
				gets++
			}
		}
		if err == nil || gets > most {
			t.Errorf("%d: got %v after %d", code, err, gets)
		}
	}
}

// TestEndlessStatus: what a remote says of its work counts to its bound.
func TestEndlessStatus(t *testing.T) {
	t.Parallel()
	s := polled(t, func(w http.ResponseWriter, nth int) {
		rpc(w, taskIs("WORKING", fmt.Sprint(nth, strings.Repeat("x", 1<<10))))
	})
	_, err := to(t, s.url, remote.MaxBytes(4<<10)).Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "remote_answer_too_large" {
		t.Errorf("got %v", err)
	}
}

// TestEndlessStatusOverGRPC: there is no body to be bounded.
func TestEndlessStatusOverGRPC(t *testing.T) {
	t.Parallel()
	said := strings.Repeat("x", 1<<20)
	a, _ := overGRPC(t, &rpcAgent{answer: func(_ int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
		for i := 0; ; i++ {
			err := s.Send(&a2apb.StreamResponse{Payload: &a2apb.StreamResponse_StatusUpdate{StatusUpdate: &a2apb.TaskStatusUpdateEvent{
				TaskId: "t-1", ContextId: "c-1", Status: &a2apb.TaskStatus{State: a2apb.TaskState_TASK_STATE_WORKING, Message: &a2apb.Message{
					MessageId: fmt.Sprint(i), Role: a2apb.Role_ROLE_AGENT, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: said}}},
				}},
			}}})
			if err != nil {
				return err
			}
		}
	}})
	_, err := a.Call(t.Context(), remote.Text("x"))
	if e := errcode.Default().Convert(err); e.Reason() != "remote_answer_too_large" {
		t.Errorf("got %v", err)
	}
}
