package executor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// TestGRPCErrorsFitATrailer: clients of C-core got none of an error whose
// details were larger than they take of a trailer, 8 KiB.
func TestGRPCErrorsFitATrailer(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	long := strings.Repeat("ü", 20_000)
	for name, c := range map[string]struct {
		request request
		reason  string
		fields  bool
	}{
		"many violations":      {request{op: "SendMessage", params: map[string]any{"message": map[string]any{"parts": []any{}, "referenceTaskIds": strings.Split(strings.Repeat(",", 300), ",")}}}, "INVALID_PARAMS", true},
		"a long id":            {request{op: "GetTask", params: map[string]any{"id": long}}, "TASK_NOT_FOUND", false},
		"a long id, to follow": {request{op: "SubscribeToTask", params: map[string]any{"id": long}}, "TASK_NOT_FOUND", false},
		"a long version":       {request{op: "GetTask", params: map[string]any{"id": "x"}, header: map[string]string{"A2A-Version": strings.Repeat("9", 3000)}}, "VERSION_NOT_SUPPORTED", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t, "gRPC", c.request)
			size := 0
			for k, vs := range got.header {
				for _, v := range vs {
					size += len(k) + len(v) + 32
				}
			}
			if !got.failed || got.reason != c.reason || c.fields && (len(got.fields) == 0 || got.data["violations"] == nil) || got.data["errorCode"] == nil {
				t.Errorf("got %s with %d violations, %v", got.reason, len(got.fields), got.data)
			}
			if base64 := size * 4 / 3; base64 > 7<<10 {
				t.Errorf("the trailer has about %d bytes", base64)
			}
		})
	}
	if got := w.ask(t, "JSON-RPC", request{op: "GetTask", params: map[string]any{"id": long}}); got.meta["taskId"] != long {
		t.Errorf("JSON has not the whole id: %.100s", got.raw)
	}
}

// nestedStruct is an object so many levels deep.
func nestedStruct(levels int) *structpb.Struct {
	s := &structpb.Struct{}
	for range levels - 1 {
		s = &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStructValue(s)}}
	}
	return s
}

// TestGRPCDepthIsLimited: a message 4,900 levels deep was stored, and from then
// on nobody could list tasks.
func TestGRPCDepthIsLimited(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for _, levels := range []int{20, 200, 1600} {
		want := codes.InvalidArgument
		if levels < 100 {
			want = codes.OK
		}
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			t.Parallel()
			list := structpb.NewListValue(&structpb.ListValue{})
			for range levels {
				list = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{list}})
			}
			for name, in := range map[string]*a2apb.Message{
				"data":     {Parts: []*a2apb.Part{{Content: &a2apb.Part_Data{Data: structpb.NewStructValue(nestedStruct(levels))}}}},
				"metadata": {Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}}, Metadata: nestedStruct(levels)},
				"lists":    {Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}}, Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"a": list}}},
			} {
				in.MessageId, in.Role = "m", a2apb.Role_ROLE_USER
				if _, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: in}); status.Code(err) != want {
					t.Errorf("%s: got %v", name, err)
				}
			}
			_, err := oldpb.NewA2AServiceClient(w.conn).SendMessage(t.Context(), &oldpb.SendMessageRequest{Request: &oldpb.Message{
				MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: "x"}}}, Metadata: nestedStruct(levels),
			}})
			if status.Code(err) != want {
				t.Errorf("0.3: got %v", err)
			}
		})
	}
}

// TestExtendedCardOf03: it described 1.0, and had no security.
func TestExtendedCardOf03(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)),
		executor.ExtendedCard(func(_ context.Context, _ agent.User, public *a2a.AgentCard) (*a2a.AgentCard, error) {
			public.Description = "for Ada"
			return public, nil
		}))
	ada := map[string]string{"Authorization": "Bearer ada"}
	res, body := w.send(t, http.MethodGet, "/v0.3/v1/card", "", ada)
	var card map[string]any
	if err := json.Unmarshal([]byte(body), &card); err != nil {
		t.Fatal(err)
	}
	rpc := w.ask(t, "JSON-RPC 0.3", request{op: "GetExtendedAgentCard", header: ada})
	for name, card := range map[string]map[string]any{"HTTP+JSON " + res.Status: card, "JSON-RPC": rpc.result} {
		url := w.url + "/v0.3"
		others, _ := card["additionalInterfaces"].([]any)
		schemes, _ := card["securitySchemes"].(map[string]any)
		bearer, _ := schemes["bearer"].(map[string]any)
		if card["protocolVersion"] != "0.3" || card["url"] != url || card["description"] != "for Ada" || bearer["type"] != "http" || card["security"] == nil || len(others) == 0 {
			t.Errorf("%s: got %v", name, card)
		}
		for _, o := range others {
			if m, _ := o.(map[string]any); m["url"] != url {
				t.Errorf("%s: the interface %v is none of 0.3", name, o)
			}
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer ada")
	got, err := oldpb.NewA2AServiceClient(w.conn).GetAgentCard(ctx, &oldpb.GetAgentCardRequest{})
	if err != nil || got.GetProtocolVersion() != "0.3" || !strings.HasSuffix(got.GetUrl(), "/v0.3") || got.GetSecuritySchemes()["bearer"] == nil {
		t.Errorf("gRPC: got %v (%v)", got, err)
	}
	if now := w.ask(t, "JSON-RPC", request{op: "GetExtendedAgentCard", header: ada}); now.result["protocolVersion"] != nil || now.result["supportedInterfaces"] == nil {
		t.Errorf("1.0: got %v", now.result)
	}
}
