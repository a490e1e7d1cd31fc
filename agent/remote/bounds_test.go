package remote_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/errcode"
)

// tooLarge checks the failure of a remote that never ends.
func tooLarge(t *testing.T, err error) {
	t.Helper()
	if e := errcode.Default().Convert(err); e.Code() != errcode.UpstreamUnavailable || e.Reason() != "remote_answer_too_large" || e.Retriable() {
		t.Errorf("got %v", err)
	}
}

// TestEndlessOverGRPC: whatever a remote says without end counts, also what is
// no artifact's content. gRPC bounds one event only.
func TestEndlessOverGRPC(t *testing.T) {
	t.Parallel()
	const most = 1 << 17
	long := strings.Repeat("x", most/16)
	said := func(i int, text string) *a2apb.StreamResponse {
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_StatusUpdate{StatusUpdate: &a2apb.TaskStatusUpdateEvent{
			TaskId: "t-1", ContextId: "c-1", Status: &a2apb.TaskStatus{State: a2apb.TaskState_TASK_STATE_WORKING, Message: &a2apb.Message{
				MessageId: fmt.Sprint(i), Role: a2apb.Role_ROLE_AGENT, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: text}}},
			}},
		}}}
	}
	artifact := func(a *a2apb.Artifact) *a2apb.StreamResponse {
		return &a2apb.StreamResponse{Payload: &a2apb.StreamResponse_ArtifactUpdate{ArtifactUpdate: &a2apb.TaskArtifactUpdateEvent{
			TaskId: "t-1", ContextId: "c-1", Artifact: a,
		}}}
	}
	text := func(s string) []*a2apb.Part { return []*a2apb.Part{{Content: &a2apb.Part_Text{Text: s}}} }
	cases := []struct {
		name  string
		event func(i int) *a2apb.StreamResponse
		most  int64 // events that are taken
	}{
		{"status messages", func(i int) *a2apb.StreamResponse { return said(i, long) }, 16},
		{"empty statuses", func(i int) *a2apb.StreamResponse { return said(i, "") }, most / 64},
		{"artifacts without content", func(i int) *a2apb.StreamResponse {
			return artifact(&a2apb.Artifact{ArtifactId: fmt.Sprint(i), Parts: text("")})
		}, most / 128},
		{"names", func(i int) *a2apb.StreamResponse {
			return artifact(&a2apb.Artifact{ArtifactId: fmt.Sprint(i), Name: long, Parts: text("x")})
		}, 16},
		{"replacements", func(int) *a2apb.StreamResponse {
			return artifact(&a2apb.Artifact{ArtifactId: "a", Parts: text("x")})
		}, most / 64},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			endless := &rpcAgent{answer: func(_ int32, s grpc.ServerStreamingServer[a2apb.StreamResponse]) error {
				for i := 0; ; i++ {
					if err := s.Send(tc.event(i)); err != nil {
						return err
					}
					sent.Add(1)
				}
			}}
			a, _ := overGRPC(t, endless, remote.MaxBytes(most))
			answer, err := a.Call(t.Context(), remote.Text("x"))
			tooLarge(t, err)
			if n := int64(len(answer.Artifacts)); n > tc.most {
				t.Errorf("%d artifacts of %d events", n, sent.Load())
			}
		})
	}
}

// TestEndlessPolls: the answers of a remote that is asked again and again count
// together, as far as they say anything new.
func TestEndlessPolls(t *testing.T) {
	t.Parallel()
	const most = 1 << 17
	fresh := strings.Repeat("x", most*2/3)
	for name, tc := range map[string]struct {
		state string
		parts func(n int32) string // of the status message, then of the artifact
		fails bool
	}{
		"new messages":      {"WORKING", func(n int32) string { return said(fmt.Sprint(n), fresh) }, true},
		"the same message":  {"COMPLETED", func(int32) string { return said("m", fresh) }, false},
		"new artifacts":     {"WORKING", func(n int32) string { return made(fmt.Sprint(n), fresh) }, true},
		"one that grows":    {"COMPLETED", func(n int32) string { return made("a", fresh+strings.Repeat("y", int(n))) }, false},
		"one that changes":  {"WORKING", func(n int32) string { return made("a", fmt.Sprint(n)+fresh) }, true},
		"messages in parts": {"WORKING", func(n int32) string { return said(fmt.Sprint(n), fresh[:most/3], fresh[:most/3]) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads atomic.Int32
			s := answering(t, func(w http.ResponseWriter, _ *http.Request, method string) {
				n := reads.Add(1)
				state := "WORKING"
				if n > 2 {
					state = tc.state
				}
				task := fmt.Sprintf(`{"id":"t-1","status":{"state":"TASK_STATE_%s"%s}`, state, tc.parts(n))
				if method == "SendMessage" {
					task = `{"task":` + task + `}`
				}
				plainJSON(w, `{"jsonrpc":"2.0","id":"1","result":`+task+`}`)
			})
			a := behind(t, &balancer{url: s.url}, false, remote.MaxBytes(most))
			_, err := a.Call(t.Context(), remote.Text("x"))
			if tc.fails {
				tooLarge(t, err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// said is the rest of a task that says texts in its status message.
func said(id string, texts ...string) string {
	parts := make([]string, 0, len(texts))
	for _, text := range texts {
		parts = append(parts, fmt.Sprintf(`{"text":%q}`, text))
	}
	return fmt.Sprintf(`,"message":{"messageId":%q,"role":"ROLE_AGENT","parts":[%s]}}`, id, strings.Join(parts, ","))
}

// made is the rest of a task that has an artifact.
func made(id, text string) string {
	return fmt.Sprintf(`},"artifacts":[{"artifactId":%q,"parts":[{"text":%q}]}]`, id, text)
}
