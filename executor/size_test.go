package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/stream"
)

// ofParts is a message of n texts of that size each.
func ofParts(n, size int) *a2a.SendMessageRequest {
	msg := userMessage("")
	msg.Message.Parts = nil
	for range n {
		msg.Message.Parts = append(msg.Message.Parts, a2a.NewTextPart(strings.Repeat("x", size)))
	}
	return msg
}

func TestMaxInput(t *testing.T) {
	t.Parallel()
	inData := userMessage("")
	inData.Message.Parts = a2a.ContentParts{a2a.NewDataPart(map[string]any{"k": []any{strings.Repeat("x", 1000)}})}
	inFile := userMessage("")
	inFile.Message.Parts = a2a.ContentParts{a2a.NewRawPart(make([]byte, 1001))}
	inMetadata := userMessage("x")
	inMetadata.Message.Metadata = map[string]any{"k": strings.Repeat("x", 1000)}
	cases := []struct {
		name string
		opts []executor.Option
		msg  *a2a.SendMessageRequest
		want []string // none: accepted
	}{
		{"just fits", []executor.Option{executor.MaxInput(4, 1000)}, ofParts(4, 250), nil},
		{"too many parts", []executor.Option{executor.MaxInput(4, 1000)}, ofParts(5, 1), []string{"at most 4 parts, got 5"}},
		{"too many bytes", []executor.Option{executor.MaxInput(4, 1000)}, ofParts(4, 251), []string{"at most 1000 bytes, got 1004"}},
		{"both", []executor.Option{executor.MaxInput(4, 1000)}, ofParts(5, 251), []string{"at most 4 parts", "at most 1000 bytes"}},
		{"in data", []executor.Option{executor.MaxInput(4, 1000)}, inData, []string{"at most 1000 bytes"}},
		{"in a file", []executor.Option{executor.MaxInput(4, 1000)}, inFile, []string{"at most 1000 bytes, got 1001"}},
		{"in metadata", []executor.Option{executor.MaxInput(4, 1000)}, inMetadata, []string{"at most 1000 bytes"}},
		{"no limits", []executor.Option{executor.MaxInput(0, 0)}, ofParts(2000, 1), nil},
		{"default parts", nil, ofParts(1001, 1), []string{"at most 1000 parts"}},
		{"default bytes", nil, ofParts(1, 10<<20+1), []string{"at most 10485760 bytes"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHandler(t, echo("a"), tc.opts...)
			_, blocking := h.SendMessage(call(t), tc.msg)
			var streamed error
			for _, err := range h.SendStreamingMessage(call(t), tc.msg) {
				streamed = errors.Join(streamed, err)
			}
			for how, err := range map[string]error{"blocking": blocking, "streaming": streamed} {
				if len(tc.want) == 0 {
					if err != nil {
						t.Errorf("%s: got %v", how, err)
					}
					continue
				}
				if !errors.Is(err, a2a.ErrInvalidParams) || !strings.Contains(fmt.Sprint(err), "too large") {
					t.Errorf("%s: got %v", how, err)
				}
			}
			told := violations(blocking)
			for _, want := range tc.want {
				if !strings.Contains(told, "message.parts") || !strings.Contains(told, want) {
					t.Errorf("violations: %q is not in %q", want, told)
				}
			}
		})
	}
}

// violations are those in the error as gRPC tells it.
func violations(err error) string {
	var out []string
	for _, d := range status.Convert(err).Details() {
		if br, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range br.GetFieldViolations() {
				out = append(out, v.GetField()+": "+v.GetDescription())
			}
		}
	}
	return strings.Join(out, "; ")
}

func TestMaxInputOnEveryBinding(t *testing.T) {
	t.Parallel()
	_, url, clients := serveBindings(t, echo("a"), executor.MaxInput(3, 0))
	for binding, c := range clients {
		if _, err := c.SendMessage(t.Context(), ofParts(4, 1)); errcode.FromClient(err).Code() != errcode.InvalidInput {
			t.Errorf("%s: got %v", binding, err)
		}
	}
	params, err := json.Marshal(ofParts(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	res, body := postJSON(t, url+"/v1/message:send", string(params))
	if res.StatusCode != 400 || !strings.Contains(body, "at most 3 parts, got 4") {
		t.Errorf("HTTP+JSON: got %d, %s", res.StatusCode, body)
	}
	_, body = postJSON(t, url+"/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+string(params)+`}`)
	if !strings.Contains(body, `"code":-32602`) || !strings.Contains(body, "at most 3 parts, got 4") {
		t.Errorf("JSON-RPC: got %s", body)
	}
	if st := status.Convert(second(newHandler(t, echo("a"), executor.MaxInput(3, 0)).SendMessage(call(t), ofParts(4, 1)))); st.Code() != codes.InvalidArgument {
		t.Errorf("gRPC: got %v", st)
	}
}

func second[T any](_ T, err error) error { return err }

const kib = 1 << 10

func TestMaxOutput(t *testing.T) {
	t.Parallel()
	chunk := strings.Repeat("x", kib)
	cases := []struct {
		name string
		run  agent.StreamFunc
		kept int // bytes at least
	}{
		{"returns the write's error", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for {
				if err := w.Text(chunk); err != nil {
					return nil, fmt.Errorf("wrapped: %w", err)
				}
			}
		}, 10 * kib},
		{"ignores the write's error", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for range 1000 {
				_ = w.Text(chunk)
			}
			return agent.Text("done"), nil
		}, 10 * kib},
		{"one part too large", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			_ = w.Text(chunk)
			return nil, w.File(stream.File{Name: "f", Bytes: make([]byte, 1<<20)})
		}, kib},
		{"several goroutines", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for range 10 {
						_ = w.Artifact(fmt.Sprint(i)).Data(map[string]any{"x": chunk})
					}
				})
			}
			wg.Wait()
			return nil, nil
		}, 0},
		{"progress", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			for range 20 {
				_ = w.Progress(chunk)
			}
			return nil, nil
		}, 0},
		{"result", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			part := func(n int) []stream.Part { return []stream.Part{stream.TextPart(strings.Repeat("x", n*kib))} }
			return agent.Artifacts(agent.Artifact{Parts: part(6)}, agent.Artifact{Parts: part(6)}, agent.Artifact{Parts: part(1)}), nil
		}, 6 * kib},
		{"streamed and returned", func(_ context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
			if err := w.Text(strings.Repeat("x", 6*kib)); err != nil {
				return nil, err
			}
			return agent.Text(strings.Repeat("x", 6*kib)), nil
		}, 6 * kib},
		{"metadata", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			res := agent.Text("x")
			res.Artifacts[0].Metadata = map[string]any{"k": strings.Repeat("x", 11*kib)}
			return res, nil
		}, 0},
		{"note", func(context.Context, *agent.Request, *stream.Writer) (*agent.Result, error) {
			return &agent.Result{Note: strings.Repeat("x", 11*kib)}, nil
		}, 0},
	}
	for _, tc := range cases {
		for how, opt := range map[string]executortest.Option{
			"streaming": {}, "unmerged": executortest.With(unmerged()), "blocking": executortest.Blocking(),
		} {
			t.Run(tc.name+", "+how, func(t *testing.T) {
				t.Parallel()
				got := executortest.Run(t, streaming(tc.run), "x", executortest.With(executor.MaxOutput(10*kib)), opt)
				got.AssertFailed(t, errcode.Internal, executortest.Reason("output_too_large"), executortest.Retriable(false))
				if n := textSize(got.Task); n < tc.kept || n > 10*kib {
					t.Errorf("kept %d bytes, want %d at least", n, tc.kept)
				}
			})
		}
	}
}

func textSize(task *a2a.Task) (n int) {
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			raw, err := json.Marshal(p.Content)
			if err != nil {
				return -1
			}
			n += len(raw) - 2
		}
	}
	return n
}

// TestMaxOutputJustFits, and a failure of the agent's own is told as such.
func TestMaxOutputJustFits(t *testing.T) {
	t.Parallel()
	fits := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return agent.Text(strings.Repeat("x", 10*kib)), nil
	})
	executortest.Run(t, fits, "x", executortest.With(executor.MaxOutput(10*kib))).AssertCompleted(t)
	executortest.Run(t, fits, "x").AssertCompleted(t) // no limit by default
	own := invoking(func(context.Context, *agent.Request) (*agent.Result, error) {
		return agent.Text(strings.Repeat("x", 11*kib)), errcode.New(errcode.NotFound, "no_such_thing")
	})
	executortest.Run(t, own, "x", executortest.With(executor.MaxOutput(10*kib))).AssertFailed(t, errcode.NotFound, executortest.Reason("no_such_thing"))
}

// TestMaxOutputBoundsMemory: code that writes for ever is stopped at the limit.
func TestMaxOutputBoundsMemory(t *testing.T) {
	t.Parallel()
	var accepted atomic.Int64
	chunk := strings.Repeat("x", 64*kib)
	forever := streaming(func(ctx context.Context, _ *agent.Request, w *stream.Writer) (*agent.Result, error) {
		for ctx.Err() == nil {
			if w.Text(chunk) == nil {
				accepted.Add(1)
			}
		}
		return nil, nil
	})
	got := executortest.Run(t, forever, "x", executortest.With(executor.MaxOutput(256*kib)))
	got.AssertFailed(t, errcode.Internal, executortest.Reason("output_too_large"))
	if n := accepted.Load(); n != 4 {
		t.Errorf("%d chunks were accepted, want 4", n)
	}
}

// TestManySmallValues: 9 MB of empty arrays took 1.5 GB and half a minute, for they
// were counted by their three bytes each, when all was decoded.
func TestManySmallValues(t *testing.T) {
	t.Parallel()
	w := serve(t, echo("a"))
	arrays := func(n int) string { return "[" + strings.Repeat("[],", n) + "[]]" }
	message := func(n int) string {
		return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"a":` + arrays(n) + `}}}`
	}
	for n, want := range map[int]string{1_000_000: "has too many values for a message of at most 10485760 bytes", 170_000: "expected at most 10485760 bytes"} {
		for path, body := range map[string]string{
			"/": rpcBody(message(n)), "/v1/message:send": message(n), "/v0.3/v1/message:send": asREST03(message(n)),
			"/v0.3": strings.NewReplacer("SendMessage", "message/send", "ROLE_USER", "user", `{"text"`, `{"kind":"text","text"`).Replace(rpcBody(message(n))),
		} {
			res, answer := w.send(t, "POST", path, body, nil)
			got, err := edgeAnswer(res.StatusCode, res.Header.Get("Content-Type"), []byte(answer))
			if err != nil || got != "INVALID_PARAMS" || !strings.Contains(answer, want) || strings.Contains(answer, `"id":null`) {
				t.Errorf("%d to %s: got %.300s (%v)", n, path, answer, err)
			}
		}
	}
	list := &structpb.ListValue{}
	for range 500_000 {
		list.Values = append(list.Values, structpb.NewNullValue())
	}
	_, err := w.rpc.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: &a2apb.Message{
		MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: "x"}}},
		Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewListValue(list)}},
	}})
	if st := status.Convert(err); st.Code() != codes.InvalidArgument || st.Message() != "The message is too large." {
		t.Errorf("gRPC: got %v", err)
	}
	if res, answer := w.send(t, "POST", "/v1/message:send", message(10_000), nil); res.StatusCode != 200 {
		t.Errorf("10,000 values: got %.300s", answer)
	}
}
