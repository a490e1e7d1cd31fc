package executor_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/proto"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// objects is a text in so many objects.
func objects(levels int) any {
	var v any = "bottom"
	for range levels {
		v = map[string]any{"a": v}
	}
	return v
}

// TestDeepDataIsRefused: data that clients of other languages cannot read was
// taken, and then nobody of them could get the task.
func TestDeepDataIsRefused(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	at := strings.Repeat(".a", 26)
	for _, b := range bindingNames {
		for where, params := range map[string]map[string]any{
			"message.metadata":     say("x", map[string]any{"metadata": objects(26)}),
			"metadata":             with(say("x", nil), map[string]any{"metadata": objects(26)}),
			"message.parts.0.data": say("x", map[string]any{"parts": []any{map[string]any{"data": objects(26)}}}),
		} {
			row{
				name: where, request: request{op: "SendMessage", params: params}, reason: "INVALID_PARAMS",
				fields: map[string]string{where + at: "nested deeper than 25 levels"}, not: without(b),
			}.run(t, w)
		}
		row{
			name: "just fits", not: without(b),
			request: request{op: "SendMessage", params: say("x", map[string]any{"metadata": objects(25), "parts": []any{map[string]any{"data": objects(25)}}})},
		}.run(t, w)
	}
}

// TestWhatIsSentFitsAHundredMessages: the protobuf libraries of C++, Python and Java
// read no more within one another.
func TestWhatIsSentFitsAHundredMessages(t *testing.T) {
	t.Parallel()
	w := serve(t, agent.New("deep", agent.Stream(func(_ context.Context, req *agent.Request, out *stream.Writer) (*agent.Result, error) {
		if err := out.Data(objects(60)); err != nil {
			return nil, err
		}
		if req.Text() == "ask" {
			return nil, hitl.InputRequired("?", hitl.Payload(objects(60)))
		}
		return nil, errcode.New(errcode.InvalidInput, "deep", errcode.Detail("d", objects(60)), errcode.Violations(errcode.Violation{Field: "/x", Actual: objects(60)}))
	})))
	limited := proto.UnmarshalOptions{RecursionLimit: 98}
	for _, text := range []string{"ask", "fail"} {
		id := w.start(t, text, nil)
		task, err := w.rpc.GetTask(t.Context(), &a2apb.GetTaskRequest{Id: id})
		if err != nil {
			t.Fatal(err)
		}
		old, err := oldpb.NewA2AServiceClient(w.conn).GetTask(t.Context(), &oldpb.GetTaskRequest{Name: "tasks/" + id})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct{ sent, into proto.Message }{
			{&a2apb.SendMessageResponse{Payload: &a2apb.SendMessageResponse_Task{Task: task}}, &a2apb.SendMessageResponse{}},
			{&oldpb.SendMessageResponse{Payload: &oldpb.SendMessageResponse_Task{Task: old}}, &oldpb.SendMessageResponse{}},
		} {
			raw, err := proto.Marshal(m.sent)
			if err != nil {
				t.Fatal(err)
			}
			if err := limited.Unmarshal(raw, m.into); err != nil {
				t.Errorf("%s, %T: %v", text, m.sent, err)
			}
		}
		answer, err := json.Marshal(w.ask(t, "JSON-RPC", request{op: "GetTask", params: map[string]any{"id": id}}).result)
		if err != nil || strings.Contains(string(answer), "bottom") || !strings.Contains(string(answer), strings.Repeat(`{"a":`, 25)) {
			t.Errorf("%s: the data are not cut at 25 levels: %s (%v)", text, answer, err)
		}
	}
	if !strings.Contains(w.log.String(), "nested deeper than 25 levels") {
		t.Errorf("the log does not say what was cut: %s", w.log)
	}
}
