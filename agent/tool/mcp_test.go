package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

// TestThreeStrikesOverHTTP: whatever way a server fails in, the model is told
// twice, the third time fails the request, and there is never a fourth call.
func TestThreeStrikesOverHTTP(t *testing.T) {
	t.Parallel()
	broken := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   errcode.Code
		reason string
		opts   []tool.GuardOption
	}{
		"503":              {status(503, ""), errcode.UpstreamUnavailable, "http_status_error", nil},
		"500":              {status(500, ""), errcode.UpstreamUnavailable, "http_status_error", nil},
		"504":              {status(504, ""), errcode.UpstreamTimeout, "http_status_error", nil},
		"cut off":          {broken, errcode.UpstreamUnavailable, "component_invoke_error", nil},
		"not JSON":         {body("application/json", "<html>"), errcode.UpstreamUnavailable, "", nil},
		"not JSON-RPC":     {body("application/json", `{"hello":1}`), errcode.UpstreamUnavailable, "", nil},
		"malformed event":  {body("text/event-stream", "data: {\"jsonrpc\": nonsense\n\n"), errcode.UpstreamUnavailable, "", nil},
		"another protocol": {body("text/html", "<html>Please log in"), errcode.UpstreamUnavailable, "", nil},
		"silent": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, errcode.UpstreamTimeout, "deadline_exceeded",
			[]tool.GuardOption{tool.Timeout(soon)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newHTTP(t)
			balance := guardedTool(t, o.Server, "balance", c.opts...)
			o.answer(c.answer)
			ctx := request(t)
			for i := range 2 {
				out, err := balance.Call(ctx, json.RawMessage(anAccount))
				if want := (tool.Output{Text: fmt.Sprintf(unavailable, "balance"), IsError: true}); err != nil || out != want {
					t.Fatalf("failure %d: got %+v, %v", i+1, out, err)
				}
			}
			_, err := balance.Call(ctx, json.RawMessage(anAccount))
			expectEscape(t, err, c.code, c.reason, "mcp:MCP-001/balance", 2)
			if _, again := balance.Call(ctx, json.RawMessage(anAccount)); again != err { //nolint:errorlint // the very same one
				t.Errorf("after the last: got %v, want %v", again, err)
			}
			if n := o.calls.Load(); n != 3 {
				t.Errorf("the server got %d calls, want 3", n)
			}
			o.replace.Store(nil)
			patient := guardedTool(t, o.Server, "balance")
			if out, err := patient.Call(request(t), json.RawMessage(anAccount)); err != nil || out.Text != "balance of a: 12" {
				t.Errorf("the next request, the server well again: got %+v, %v", out, err)
			}
		})
	}
}

func status(code int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
	}
}

func body(mediaType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(w, text)
	}
}

// expectEscape checks the error that fails a request; an empty reason is any.
func expectEscape(t *testing.T, err error, code errcode.Code, reason, source string, retried int) {
	t.Helper()
	var e *errcode.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an application error", err, err)
	}
	if e.Code() != code || e.Source() != source || e.Retried() != retried || reason != "" && e.Reason() != reason {
		t.Errorf("got %s %s from %q, retried %d (%v), want %s %s from %q, retried %d",
			e.Code(), e.Reason(), e.Source(), e.Retried(), e.Unwrap(), code, reason, source, retried)
	}
}

// TestServerDown: nobody listens any more.
func TestServerDown(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	o.web.Close()
	ctx := request(t)
	for range 2 {
		if out, err := balance.Call(ctx, json.RawMessage(anAccount)); err != nil || !out.IsError {
			t.Fatalf("got %+v, %v", out, err)
		}
	}
	_, err := balance.Call(ctx, json.RawMessage(anAccount))
	expectEscape(t, err, errcode.UpstreamUnavailable, "connection_refused", "mcp:MCP-001/balance", 2)
	var invoke *errcode.ComponentInvokeError
	if !errors.As(err, &invoke) || !errcode.Is(err, errcode.UpstreamUnavailable) {
		t.Errorf("got %v, want a ComponentInvokeError in it", err)
	}
}

func TestListOfAServerThatIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dial tool.Dial
		code errcode.Code
	}{
		"refused":    {tool.HTTP(refusing(t), nil), errcode.UpstreamUnavailable},
		"nil":        {nil, errcode.UpstreamUnavailable},
		"no program": {tool.Stdio(func() *exec.Cmd { return exec.Command("/no/such/program") }), errcode.UpstreamUnavailable},
		"ends":       {tool.Stdio(func() *exec.Cmd { return exec.Command("true") }), errcode.UpstreamUnavailable},
		"mute":       {tool.Stdio(func() *exec.Cmd { return exec.Command("sleep", "60") }), errcode.UpstreamTimeout},
		"panics":     {func(context.Context) (mcp.Transport, error) { panic("x") }, errcode.Internal},
		"nothing":    {func(context.Context) (mcp.Transport, error) { return nil, nil }, errcode.UpstreamUnavailable}, //nolint:nilnil // the test's point
		"no command": {tool.Stdio(func() *exec.Cmd { return nil }), errcode.Internal},
	} {
		s := tool.NewServer("MCP-001", c.dial, tool.ConnectTimeout(5*soon), tool.KeepAlive(time.Minute))
		closed(t, s)
		_, err := s.Tools(t.Context())
		expectEscape(t, err, c.code, "", "mcp:MCP-001", 0)
		var load *errcode.ComponentLoadError
		if !errors.As(err, &load) {
			t.Errorf("%s: got %v, want a ComponentLoadError in it", name, err)
		}
	}
}

// TestChildProcess: a child that dies, hangs or talks nonsense has strikes, and
// is started again for the next call.
func TestChildProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool string
		code errcode.Code
		opts []tool.GuardOption
		got  int // calls that reached the tool
	}{
		"killed":      {"die", errcode.UpstreamUnavailable, nil, 3},
		"babbling":    {"babble", errcode.UpstreamUnavailable, nil, 3},
		"without end": {"flood", errcode.UpstreamUnavailable, nil, 3},
		"cut off":     {"half", errcode.UpstreamUnavailable, nil, 3},
		"slow":        {"hang", errcode.UpstreamTimeout, []tool.GuardOption{tool.Timeout(soon)}, 3},
		"hung itself": {"stop", errcode.UpstreamTimeout, []tool.GuardOption{tool.Timeout(10 * soon)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := child(t)
			bad := guardedTool(t, s, c.tool, c.opts...)
			ctx := request(t)
			for i := range 2 {
				out, err := bad.Call(ctx, nil)
				if err != nil || out.Text != fmt.Sprintf(unavailable, c.tool) {
					t.Fatalf("failure %d: got %+v, %v", i+1, out, err)
				}
			}
			_, err := bad.Call(ctx, nil)
			expectEscape(t, err, c.code, "", "mcp:MCP-001/"+c.tool, 2)
			if _, err := bad.Call(ctx, nil); err == nil {
				t.Error("a fourth call")
			}
			if n := calls(); n > 3 || n != c.got && name != "slow" {
				t.Errorf("the tool was called %d times, want %d", n, c.got)
			}
			if c.tool == "stop" {
				return // it stays so
			}
			if out, err := guardedTool(t, s, "balance").Call(request(t), json.RawMessage(anAccount)); err != nil || out.IsError {
				t.Errorf("the next request: got %+v, %v", out, err)
			}
		})
	}
}

func TestOKOverEachTransport(t *testing.T) {
	t.Parallel()
	stdio, _ := child(t)
	inProcess := tool.NewServer("MCP-001", tool.InProcess(mcpServer(func() {}, nil)))
	closed(t, inProcess)
	for name, s := range map[string]*tool.Server{"stdio": stdio, "HTTP": newHTTP(t).Server, "in process": inProcess} {
		balance := guardedTool(t, s, "balance")
		want := tool.Output{Text: "balance of a: 12"}
		if out, err := balance.Call(request(t), json.RawMessage(anAccount)); err != nil || out != want {
			t.Errorf("%s: got %+v, %v", name, out, err)
		}
		want = tool.Output{Text: "no account 4711, tried with password=[redacted]", IsError: true}
		ctx := request(t)
		for range 5 { // no strikes
			if out, err := guardedTool(t, s, "refuse").Call(ctx, nil); err != nil || out != want {
				t.Errorf("%s: an error result: got %+v, %v", name, out, err)
			}
		}
	}
}

// TestBadArguments: the model is told all that is wrong, and the server is not
// bothered.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	got := map[string]string{}
	ctx := request(t)
	for _, args := range []string{
		`{}`, ``, `null`, `{"amount":"much"}`, `{"account_id":1,"colour":"red"}`, `[]`, `{"account_id":`, `{"account_id":"a"} x`,
		`{"account_id":"a","amount":1.5}`,
	} {
		out, err := balance.Call(ctx, json.RawMessage(args))
		if err != nil || !out.IsError {
			t.Errorf("%s: got %+v, %v", args, out, err)
		}
		got[args] = out.Text
	}
	want := map[string]string{
		`{}`:                              "Missing required argument: account_id",
		``:                                "Missing required argument: account_id",
		`null`:                            "Missing required argument: account_id",
		`{"amount":"much"}`:               "Missing required argument: account_id; Invalid argument: amount (expected integer, got string)",
		`{"account_id":1,"colour":"red"}`: "Invalid argument: account_id (expected string, got number); Unknown argument: colour",
		`[]`:                              "The arguments must be a JSON object.",
		`{"account_id":`:                  "The arguments are not valid JSON.",
		`{"account_id":"a"} x`:            "The arguments are not valid JSON.",
		`{"account_id":"a","amount":1.5}`: "Invalid argument: amount (expected integer, got number)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := o.calls.Load(); n != 0 {
		t.Errorf("the server got %d calls", n)
	}
}

// TestFailSuccessFail: successes between failures do not forgive them.
func TestFailSuccessFail(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	ctx := request(t)
	bad := status(503, "")
	for i := range 5 {
		o.replace.Store(nil)
		if i%2 == 0 {
			o.replace.Store(&bad)
		}
		out, err := balance.Call(ctx, json.RawMessage(anAccount))
		if i == 4 {
			expectEscape(t, err, errcode.UpstreamUnavailable, "http_status_error", "mcp:MCP-001/balance", 2)
		} else if err != nil || out.IsError != (i%2 == 0) {
			t.Fatalf("call %d: got %+v, %v", i+1, out, err)
		}
	}
	if n := o.calls.Load(); n != 5 {
		t.Errorf("the server got %d calls, want 5", n)
	}
}

// TestRequestsDoNotShareStrikes: many requests at once on one tool, each with
// two failures of its own and then successes.
func TestRequestsDoNotShareStrikes(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	var mu sync.Mutex
	failed := map[string]int{}
	well := mcpHandler()
	o.answer(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		_, id, _ := strings.Cut(string(raw), `"account_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		mu.Lock()
		failed[id]++
		n := failed[id]
		mu.Unlock()
		if n <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		well(w, r, raw)
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			ctx := request(t)
			args := json.RawMessage(fmt.Sprintf(`{"account_id":"%d"}`, i))
			for n := range 4 {
				out, err := balance.Call(ctx, args)
				if err != nil || out.IsError != (n < 2) {
					t.Errorf("request %d, call %d: got %+v, %v", i, n+1, out, err)
				}
			}
		})
	}
	all.Wait()
}

// mcpHandler answers any call of a tool well.
func mcpHandler() func(w http.ResponseWriter, r *http.Request, body []byte) {
	return func(w http.ResponseWriter, _ *http.Request, body []byte) {
		var req struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"fine"}]}}`, req.ID)
	}
}

// TestRateLimitIsObeyed: the delay is waited out, and nothing is a strike.
func TestRateLimitIsObeyed(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	var calls int
	o.answer(func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls <= 4 {
			status(429, "0")(w, r)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		mcpHandler()(w, r, raw)
	})
	if out, err := balance.Call(request(t), json.RawMessage(anAccount)); err != nil || out.Text != "fine" {
		t.Errorf("got %+v, %v", out, err)
	}
	o.answer(status(429, "3600"))
	ctx := request(t)
	for range 4 { // and no strikes
		_, err := balance.Call(ctx, json.RawMessage(anAccount))
		expectEscape(t, err, errcode.RateLimited, "http_status_error", "mcp:MCP-001/balance", 0)
		var e *errcode.Error
		_ = errors.As(err, &e)
		if after, ok := e.RetryAfter(); !ok || after > time.Hour || after < 50*time.Minute {
			t.Errorf("retry after %v", after)
		}
	}
	if n := o.calls.Load(); n != 6 { // the later ones of the request know
		t.Errorf("the server got %d calls, want 6", n)
	}
}

// TestUnauthorized: what the model cannot repair fails the request at once.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]errcode.Code{
		401: errcode.AuthRequired, 403: errcode.AuthRequired,
	} {
		o := newHTTP(t)
		balance := guardedTool(t, o.Server, "balance")
		o.answer(status(code, ""))
		_, err := balance.Call(request(t), json.RawMessage(anAccount))
		expectEscape(t, err, want, "http_status_error", "mcp:MCP-001/balance", 0)
	}
}

// TestServerRestarted: a server that has forgotten the session was called all the
// same, which is a strike; the next call has a new session.
func TestServerRestarted(t *testing.T) {
	t.Parallel()
	o := newHTTP(t)
	balance := guardedTool(t, o.Server, "balance")
	serve := mcpOverHTTP(t, nil)
	o.all.Store(&serve)
	ctx := request(t)
	if out, err := balance.Call(ctx, json.RawMessage(anAccount)); err != nil || out.Text != fmt.Sprintf(unavailable, "balance") {
		t.Errorf("got %+v, %v", out, err)
	}
	if out, err := balance.Call(ctx, json.RawMessage(anAccount)); err != nil || out.IsError {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestChildThatDoesNotRead: writing to it blocks, whatever the context says. The
// call is left behind, a new child takes its place, and Close gets rid of all.
func TestChildThatDoesNotRead(t *testing.T) {
	t.Parallel()
	s, _ := child(t)
	balance := toolNamed(t, s, "balance")
	stop := guardedTool(t, s, "stop", tool.Timeout(5*soon))
	if out, err := stop.Call(request(t), nil); err != nil || !out.IsError {
		t.Fatalf("got %+v, %v", out, err)
	}
	more := json.RawMessage(fmt.Sprintf(`{"account_id":%q}`, strings.Repeat("x", 128<<10))) // than a pipe holds
	for wait := 5 * soon; ; wait *= 2 {                                                     // however slow the machine is
		out, err := guard(t, balance, tool.Timeout(wait)).Call(request(t), more)
		if err != nil {
			t.Fatal(err)
		}
		if !out.IsError {
			break
		}
	}
}

// TestCloseWhileCalled ends what runs; later calls fail.
func TestCloseWhileCalled(t *testing.T) {
	t.Parallel()
	stdio, _ := child(t)
	for name, s := range map[string]*tool.Server{"stdio": stdio, "HTTP": newHTTP(t).Server} {
		hang := guardedTool(t, s, "hang", tool.Strikes(1))
		done := make(chan error)
		go func() {
			_, err := hang.Call(request(t), nil)
			done <- err
		}()
		go func() { done <- s.Close() }()
		for range 2 {
			if err := <-done; err != nil && !errcode.Is(err, errcode.UpstreamUnavailable) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := hang.Call(request(t), nil); !errors.Is(err, tool.ErrClosed) {
			t.Errorf("%s: afterwards: got %v, want %v", name, err, tool.ErrClosed)
		}
		if _, err := s.Tools(t.Context()); !errors.Is(err, tool.ErrClosed) {
			t.Errorf("%s: list: got %v, want %v", name, err, tool.ErrClosed)
		}
	}
}
