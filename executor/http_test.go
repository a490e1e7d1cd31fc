package executor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpcclient "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

// callServer sends a request to a server without a network.
func callServer(t *testing.T, h http.Handler, method, path, body string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://agents.example"+path, strings.NewReader(body))
	for k, v := range header {
		req.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func TestCardIsCached(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.CardMaxAge(time.Minute), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.APIKeyAuth("X-API-Key", executor.VerifierFunc(verifyNames)))
	const path = "/.well-known/agent-card.json"
	first := callServer(t, srv, http.MethodGet, path, "", nil)
	tag := first.Header().Get("ETag")
	if first.Code != 200 || tag == "" || first.Header().Get("Cache-Control") != "public, max-age=60" || first.Header().Get("Access-Control-Allow-Origin") != "*" ||
		!slices.Contains(first.Header().Values("Vary"), "Host") {
		t.Errorf("got %d %v", first.Code, first.Header())
	}
	var card struct {
		SecuritySchemes      map[string]map[string]any
		SecurityRequirements []map[string]any
		Security             []map[string]any
	}
	if err := json.Unmarshal(first.Body.Bytes(), &card); err != nil {
		t.Fatal(err)
	}
	if card.SecuritySchemes["bearer"] == nil || card.SecuritySchemes["apiKey"] == nil || len(card.SecurityRequirements) != 2 || len(card.Security) != 2 {
		t.Errorf("security: got %+v", card)
	}
	again := callServer(t, srv, http.MethodGet, path, "", map[string]string{"If-None-Match": tag})
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("asked again: got %d with %d bytes", again.Code, again.Body.Len())
	}
	other := callServer(t, newServer(t, echo("a"), executor.Version("2")), http.MethodGet, path, "", map[string]string{"If-None-Match": tag})
	if other.Code != http.StatusOK || other.Header().Get("ETag") == tag {
		t.Errorf("another card: got %d", other.Code)
	}
	if head := callServer(t, srv, http.MethodHead, path, "", nil); head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("ETag") != tag {
		t.Errorf("HEAD: got %d", head.Code)
	}
}

func TestHealthAndShutdown(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.BearerAuth(executor.VerifierFunc(verifyNames)))
	if got := callServer(t, srv, http.MethodGet, "/healthz", "", nil); got.Code != 200 || !strings.Contains(got.Body.String(), `"ok"`) {
		t.Errorf("up: got %d %s", got.Code, got.Body)
	}
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodGet, "/healthz", "", http.StatusServiceUnavailable},
		{http.MethodPost, "/v1/message:send", `{"message":` + goodMessage + `}`, http.StatusServiceUnavailable},
		{http.MethodPost, "/v1/message:stream", `{"message":` + goodMessage + `}`, http.StatusServiceUnavailable},
		{http.MethodPost, "/", rpcBody(`{"message":` + goodMessage + `}`), http.StatusOK},
	} {
		got := callServer(t, srv, c.method, c.path, c.body, map[string]string{"Authorization": "Bearer ada"})
		if got.Code != c.status || !strings.Contains(got.Body.String(), "The server is shutting down.") || !strings.Contains(got.Body.String(), `"UNAVAILABLE"`) {
			t.Errorf("going down, %s: got %d %s", c.path, got.Code, got.Body)
		}
		if got.Header().Get("Retry-After") != "1" || !strings.Contains(got.Body.String(), `"retryDelay":"1s"`) {
			t.Errorf("going down, %s: says not when to come back: %v %s", c.path, got.Header(), got.Body)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.CORS("https://app.example"), executor.APIKeyAuth("X-Key", executor.VerifierFunc(verifyNames)))
	preflight := map[string]string{
		"Origin": "https://app.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "a2a-extensions,a2a-version,content-type,x-key",
	}
	got := callServer(t, srv, http.MethodOptions, "/", "", preflight)
	if got.Code != http.StatusNoContent || got.Header().Get("Access-Control-Allow-Origin") != "https://app.example" ||
		got.Header().Get("Access-Control-Allow-Methods") != "POST" || !strings.Contains(got.Header().Get("Access-Control-Allow-Headers"), "x-key") {
		t.Errorf("preflight: got %d %v", got.Code, got.Header())
	}
	posted := callServer(t, srv, http.MethodPost, "/v1/message:send", `{"message":`+goodMessage+`}`, map[string]string{"Origin": "https://app.example"})
	exposed := posted.Header().Get("Access-Control-Expose-Headers")
	if posted.Code != http.StatusUnauthorized || posted.Header().Get("Access-Control-Allow-Origin") != "https://app.example" ||
		!strings.Contains(exposed, "Www-Authenticate") || !strings.Contains(exposed, "A2a-Extensions") || !strings.Contains(exposed, "Retry-After") {
		t.Errorf("got %d %v", posted.Code, posted.Header())
	}
	preflight["Origin"] = "https://evil.example"
	if got := callServer(t, srv, http.MethodOptions, "/", "", preflight); got.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another origin: got %v", got.Header())
	}
	card := callServer(t, srv, http.MethodGet, "/.well-known/agent-card.json", "", map[string]string{"Origin": "https://evil.example"})
	if card.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the card: got %v", card.Header())
	}
}

// TestForeignOrigins: what a page of another origin may not do its browser keeps
// from it, as long as the server gives no permission; the server refuses nothing
// for its Origin, which programs and pages of its own send too.
func TestForeignOrigins(t *testing.T) {
	t.Parallel()
	const origin = "https://evil.example"
	for name, opts := range map[string][]executor.Option{"without CORS": nil, "with CORS": {executor.CORS("https://app.example")}} {
		srv := newServer(t, echo("a"), opts...)
		permits := func(got *httptest.ResponseRecorder) bool {
			for k := range got.Header() {
				if strings.HasPrefix(k, "Access-Control-Allow") {
					return true
				}
			}
			return false
		}
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"POST", "/", rpcBody(`{"message":` + goodMessage + `}`), 200},
			{"POST", "/v1/message:send", `{"message":` + goodMessage + `}`, 200},
			{"POST", "/v0.3/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}}`, 200},
			{"GET", "/v1/tasks", "", 200},
			{"GET", "/healthz", "", 200},
		} {
			got := callServer(t, srv, c.method, c.path, c.body, map[string]string{"Origin": origin, "Content-Type": "application/json"})
			if got.Code != c.status || permits(got) {
				t.Errorf("%s: %s %s: got %d %v", name, c.method, c.path, got.Code, got.Header())
			}
			got = callServer(t, srv, "OPTIONS", c.path, "", map[string]string{"Origin": origin, "Access-Control-Request-Method": c.method})
			if got.Code >= 500 || permits(got) {
				t.Errorf("%s: preflight for %s: got %d %v", name, c.path, got.Code, got.Header())
			}
		}
		plain := callServer(t, srv, "POST", "/", rpcBody(`{"message":`+goodMessage+`}`), map[string]string{"Origin": origin, "Content-Type": "text/plain"})
		if plain.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%s: what a form could send: got %d", name, plain.Code)
		}
	}
}

func TestHTTPOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]executor.Option{
		"MaxBodyBytes": executor.MaxBodyBytes(0), "KeepAlive": executor.KeepAlive(-1), "CardMaxAge": executor.CardMaxAge(-1),
		"CORS": executor.CORS("app.example"), "Extensions": executor.Extensions(a2a.AgentExtension{URI: "a,b"}), "ExtendedCard": executor.ExtendedCard(nil),
		"BearerAuth": executor.BearerAuth(nil), "APIKeyAuth": executor.APIKeyAuth("a b", executor.VerifierFunc(verifyNames)),
		"RequireScope": executor.RequireScope("x", "Nonsense"), "Authorize": executor.Authorize(nil),
		"URLPaths": executor.URLPaths(executor.Paths{JSONRPC: "/x/", REST: "/", Health: "/v0.3"}),
	} {
		if _, err := executor.NewServer(echo("a"), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	twice := executor.BearerAuth(executor.VerifierFunc(verifyNames))
	if _, err := executor.NewServer(echo("a"), twice, twice); err == nil {
		t.Error("BearerAuth was taken twice")
	}
	if _, err := executor.NewServer(echo("a"), executor.URLPaths(executor.Paths{REST: "/v0.3/v1"})); err == nil {
		t.Error("a path was taken for both generations")
	}
}

// TestURLPaths moves every path below a prefix; the card tells where.
func TestURLPaths(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.Prefix("/loans"), executor.URLPaths(executor.Paths{
		JSONRPC: "/rpc", REST: "/rest", JSONRPC03: "/old", REST03: "/old-rest", Health: "/alive",
	}))
	hs := httptest.NewServer(srv)
	defer hs.Close()
	card, err := agentcard.NewResolver(hs.Client()).Resolve(t.Context(), hs.URL+"/loans")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range card.SupportedInterfaces {
		if !strings.HasPrefix(i.URL, hs.URL+"/loans/") {
			t.Errorf("the card lists %s", i.URL)
		}
		if i.ProtocolVersion != a2a.Version {
			continue
		}
		one := *card
		one.SupportedInterfaces = []*a2a.AgentInterface{i}
		client, err := a2aclient.NewFromCard(t.Context(), &one, a2aclient.WithJSONRPCTransport(hs.Client()), a2aclient.WithRESTTransport(hs.Client()))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.SendMessage(t.Context(), userMessage("hi"))
		if err != nil || firstText(res) != "a: hi" {
			t.Errorf("%s: got %v, %v", i.URL, res, err)
		}
	}
	old := callServer(t, srv, http.MethodPost, "/loans/old-rest/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"}]}}`, nil)
	if old.Code != 200 || !strings.Contains(old.Body.String(), "a: hi") {
		t.Errorf("HTTP+JSON 0.3: got %d %s", old.Code, old.Body)
	}
	if got := callServer(t, srv, http.MethodGet, "/loans/alive", "", nil); got.Code != 200 {
		t.Errorf("health: got %d", got.Code)
	}
}

// TestPrefixWithoutASlash: the address of an agent below a prefix was not found as
// people write it.
func TestPrefixWithoutASlash(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.Prefix("/loans"))
	for path, want := range map[string]int{"/loans": 200, "/loans/": 200, "/loan": 404, "/loansx": 404, "": 404} {
		got := callServer(t, srv, http.MethodPost, path+"?A2A-Version=1.0", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, nil)
		if got.Code != want || want == 200 && !strings.Contains(got.Body.String(), "-32001") {
			t.Errorf("%q: got %d %s", path, got.Code, got.Body)
		}
	}
}

// TestVersionByQuery: a client may say its version in the URL.
func TestVersionByQuery(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"))
	for query, want := range map[string]int{"1.0": 404, "2.0": 400, "": 404} {
		if got := callServer(t, srv, http.MethodGet, "/v1/tasks/x?A2A-Version="+query, "", nil); got.Code != want {
			t.Errorf("%q: got %d %s", query, got.Code, got.Body)
		}
	}
	old := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}`
	for version, want := range map[string]string{"": "-32001", "0.3": "-32001", "1.0": "-32601"} {
		got := callServer(t, srv, http.MethodPost, "/", old, map[string]string{"A2A-Version": version})
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("an old method at / with version %q: got %s", version, got.Body)
		}
	}
	got := callServer(t, srv, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, map[string]string{"A2A-Version": "0.3"})
	if !strings.Contains(got.Body.String(), "-32601") {
		t.Errorf("a new method as 0.3: got %s", got.Body)
	}
}

// TestOldStreamsEnd: the last event of a 0.3 stream says so, whatever it is.
func TestOldStreamsEnd(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for text, state := range map[string]string{"credentials": "auth-required", "ask": "input-required", "hi": "completed"} {
		_, _, body := w.post(t, "/v0.3", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"`+text+`"}]}}}`)
		events := strings.Split(strings.TrimSpace(body), "\n\n")
		last := events[len(events)-1]
		if !strings.Contains(last, `"final":true`) || !strings.Contains(last, `"state":"`+state+`"`) {
			t.Errorf("%s: the last event is %s", text, last)
		}
		for _, e := range events[:len(events)-1] {
			if strings.Contains(e, `"final":true`) {
				t.Errorf("%s: an earlier event is final: %s", text, e)
			}
		}
	}
	_, _, body := w.post(t, "/v0.3/v1/message:stream", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"credentials"}]}}`)
	if events := strings.Split(strings.TrimSpace(body), "\n\n"); !strings.Contains(events[len(events)-1], `"final":true`) {
		t.Errorf("HTTP+JSON: the last event is %s", events[len(events)-1])
	}
}

// TestOldRESTErrors have the status and the content type that clients read.
func TestOldRESTErrors(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"))
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v0.3/v1/tasks/x", "", 404, "TASK_NOT_FOUND"},
		{"POST", "/v0.3/v1/tasks/x:cancel", "", 404, "TASK_NOT_FOUND"},
		{"POST", "/v0.3/v1/tasks/x:subscribe", "", 404, "TASK_NOT_FOUND"},
		{"POST", "/v0.3/v1/message:send", "{", 400, "PARSE_ERROR"},
		{"POST", "/v0.3/v1/message:stream", `{"message":{"messageId":"m","role":"ROLE_USER","content":[]}}`, 400, `"message.content"`},
		{"GET", "/v0.3/v1/tasks?pageSize=200", "", 400, `"pageSize"`},
		{"GET", "/v0.3/v1/tasks?pageSize=x", "", 400, `"pageSize"`},
		{"GET", "/v0.3/v1/card", "", 400, "UNSUPPORTED_OPERATION"},
	} {
		got := callServer(t, srv, c.method, c.path, c.body, nil)
		if got.Code != c.status || got.Header().Get("Content-Type") != "application/json" || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s %s: got %d %s %s", c.method, c.path, got.Code, got.Header().Get("Content-Type"), got.Body)
		}
	}
}

// TestKeepAlive: a stream that has nothing to say sends comments.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		srv := newServer(t, conforming(release), executor.KeepAlive(10*time.Second))
		r, w := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/message:stream", strings.NewReader(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"wait"}]}}`))
		done := make(chan struct{})
		go func() {
			defer close(done)
			srv.ServeHTTP(&pipeWriter{header: http.Header{}, w: w}, req)
			_ = w.Close()
		}()
		begun := time.Now()
		lines := bufio.NewScanner(r)
		for lines.Scan() && lines.Text() != ": keep-alive" {
		}
		if d := time.Since(begun); d != 10*time.Second {
			t.Errorf("the first comment came after %v, want 10s", d)
		}
		close(release)
		for lines.Scan() {
		}
		cancel()
		<-done
	})
}

// pipeWriter is a ResponseWriter whose reader sees each write.
type pipeWriter struct {
	header http.Header
	w      io.Writer
}

func (p *pipeWriter) Header() http.Header         { return p.header }
func (p *pipeWriter) WriteHeader(int)             {}
func (p *pipeWriter) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *pipeWriter) Flush()                      {}

// transports are those of the host's Go client, by their bindings' names.
func (w *wire) transports(t *testing.T) map[string]a2aclient.Transport {
	t.Helper()
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(hc.CloseIdleConnections)
	base, err := url.Parse(w.url + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]a2aclient.Transport{
		"JSON-RPC":     a2aclient.NewJSONRPCTransport(w.url+"/", hc),
		"HTTP+JSON":    a2aclient.NewRESTTransport(base, hc),
		"gRPC":         a2agrpcclient.NewGRPCTransport(w.conn),
		"JSON-RPC 0.3": a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: w.url + "/v0.3", Client: hc}),
	}
}

// TestErrorDataReachesTheGoClient: what a client of the host's makes of a
// refusal, package errcode reads.
func TestErrorDataReachesTheGoClient(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	all := w.transports(t)
	delete(all, "JSON-RPC 0.3") // cannot decode the data of errors
	for name, tr := range all {
		_, err := tr.GetTask(t.Context(), nil, &a2a.GetTaskRequest{ID: "nowhere"})
		e := errcode.FromClient(err)
		if !errors.Is(err, a2a.ErrTaskNotFound) || e.Code() != errcode.NotFound || e.Reason() != "task_not_found" || e.Domain() != "conforming" || e.Message() != "Task not found." {
			t.Errorf("%s: got %v, %v of %q", name, err, e, e.Domain())
		}
		_, err = tr.SendMessage(t.Context(), nil, &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser)})
		if e := errcode.FromClient(err); !errors.Is(err, a2a.ErrInvalidParams) || len(e.Violations()) != 1 || e.Violations()[0].Field != "/message/parts" {
			t.Errorf("%s: got %v with %v", name, err, e.Violations())
		}
		_, err = tr.SendMessage(t.Context(), nil, userMessage("limited"))
		if d, ok := errcode.FromClient(err).RetryAfter(); !errcode.Is(err, errcode.RateLimited) || !ok || d != 1500*time.Millisecond {
			t.Errorf("%s: got %v after %v", name, err, d)
		}
	}
}

// TestHandlerAuthenticatesByItself: without the server's edge, under the host's
// own bindings.
func TestHandlerAuthenticatesByItself(t *testing.T) {
	t.Parallel()
	h := newHandler(t, conforming(nil), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.RequireScope("tasks.write"))
	binding := a2asrv.NewJSONRPCHandler(h)
	body := rpcBody(`{"message":` + goodMessage + `}`)
	for credential, want := range map[string]string{"": "-31401", "Bearer bad": "-31401", "Bearer reader": "-31403", "Bearer ada": `"result"`} {
		got := callServer(t, binding, http.MethodPost, "/", body, map[string]string{"Authorization": credential})
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("%q: got %s", credential, got.Body)
		}
	}
	got := callServer(t, binding, http.MethodPost, "/", rpcBody(`{"message":{"role":"ROLE_USER","parts":[]}}`), map[string]string{"Authorization": "Bearer ada"})
	for _, want := range []string{"-32602", `"field":"message.messageId"`, `"field":"message.parts"`, "google.protobuf.Struct"} {
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
}

// TestGRPCOfOldClients: the service of A2A 0.3.
func TestGRPCOfOldClients(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	client := oldpb.NewA2AServiceClient(w.conn)
	msg := &oldpb.Message{MessageId: "m", Role: oldpb.Role_ROLE_USER, Parts: []*oldpb.Part{{Part: &oldpb.Part_Text{Text: "hi"}}}}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-a2a-extensions", "https://example.com/x,"+errcode.ExtensionURI)
	var head metadata.MD
	res, err := client.SendMessage(ctx, &oldpb.SendMessageRequest{Request: msg}, grpc.Header(&head))
	if err != nil || res.GetTask().GetStatus().GetState() != oldpb.TaskState_TASK_STATE_COMPLETED {
		t.Errorf("got %v, %v", res, err)
	}
	if got := head.Get("x-a2a-extensions"); len(got) != 1 || got[0] != errcode.ExtensionURI {
		t.Errorf("activated: got %v", head)
	}
	_, err = client.GetTask(t.Context(), &oldpb.GetTaskRequest{Name: "tasks/nowhere"})
	if st := status.Convert(err); st.Code() != codes.NotFound || st.Message() != "Task not found." || len(st.Details()) != 2 {
		t.Errorf("got %v %v", st, st.Details())
	}
	_, err = client.SendMessage(t.Context(), &oldpb.SendMessageRequest{Request: &oldpb.Message{MessageId: "m", Role: oldpb.Role_ROLE_USER}})
	found := 0
	for _, d := range status.Convert(err).Details() {
		if br, ok := d.(*errdetails.BadRequest); ok {
			found = len(br.GetFieldViolations())
		}
	}
	if status.Code(err) != codes.InvalidArgument || found != 1 {
		t.Errorf("no parts: got %v with %d violations", err, found)
	}
}

// TestGRPCBounds: what gRPC itself refuses is refused in the same form.
func TestGRPCBounds(t *testing.T) {
	t.Parallel()
	addr, stop := startGRPC(t, echo("a"), executor.MaxBodyBytes(10_000))
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	client := a2apb.NewA2AServiceClient(conn)
	big := &a2apb.Message{MessageId: "m", Role: a2apb.Role_ROLE_USER, Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: strings.Repeat("x", 20_000)}}}}
	_, err = client.SendMessage(t.Context(), &a2apb.SendMessageRequest{Message: big})
	if st := status.Convert(err); st.Code() != codes.ResourceExhausted {
		t.Errorf("too large: got %v", st)
	}
	err = conn.Invoke(t.Context(), "/lf.a2a.v1.A2AService/GetTask", rawMessage("\xff\xff\xff"), &a2apb.Task{}, grpc.ForceCodec(rawCodec{}))
	if st := status.Convert(err); st.Code() != codes.InvalidArgument || strings.Contains(st.Message(), "proto") || len(st.Details()) != 2 {
		t.Errorf("bytes that are no message: got %v %v", st, st.Details())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

type rawMessage string

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) {
	m, ok := v.(rawMessage)
	if !ok {
		return nil, fmt.Errorf("%T", v)
	}
	return []byte(m), nil
}
func (rawCodec) Unmarshal([]byte, any) error { return nil }
func (rawCodec) Name() string                { return "proto" }

// startGRPC serves over gRPC until stop, which gives Serve's error.
func startGRPC(t *testing.T, a *agent.Agent, opts ...executor.Option) (addr string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	listening, served := make(chan string, 1), make(chan error, 1)
	opts = append(opts, quiet, executor.GRPCAddr("127.0.0.1:0"), executor.OnListen(func(_, g net.Addr) { listening <- g.String() }))
	go func() { served <- executor.Serve(ctx, "127.0.0.1:0", a, opts...) }()
	select {
	case addr = <-listening:
	case err := <-served:
		cancel()
		t.Fatal(err)
	}
	return addr, func() error { cancel(); return <-served }
}

// TestCorrelationIDs: the id that a client sees with an internal error is the
// one under which the log has its cause, on every binding.
func TestCorrelationIDs(t *testing.T) {
	t.Parallel()
	w := serve(t, validating())
	for _, b := range bindingNames {
		got := w.ask(t, b, request{op: "SendMessage", params: say("internal", nil)})
		id, _ := got.data["correlationId"].(string)
		if id == "" || got.reason != "INTERNAL_ERROR" || got.message != "Internal error." {
			t.Errorf("%s: got %+v", b, got)
			continue
		}
		_, line, _ := strings.Cut(w.log.String(), "correlation_id="+id)
		before, _, _ := strings.Cut(w.log.String(), "correlation_id="+id)
		if line == "" || !strings.Contains(before[strings.LastIndex(before, "\n")+1:], "hunter2") {
			t.Errorf("%s: the log has no cause under %s", b, id)
		}
		if strings.Contains(got.raw, "hunter2") {
			t.Errorf("%s leaks: %s", b, got.raw)
		}
	}
}

// TestSubscribeFollowsTheNextTurn: a parked task gives its snapshot, and the
// events of the turn that an answer begins, on every binding.
func TestSubscribeFollowsTheNextTurn(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil))
	for name, tr := range w.transports(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := a2a.TaskID(w.start(t, "ask", nil))
			var states []a2a.TaskState
			for ev, err := range tr.SubscribeToTask(t.Context(), nil, &a2a.SubscribeToTaskRequest{ID: id}) {
				if err != nil {
					t.Fatal(err)
				}
				switch e := ev.(type) {
				case *a2a.Task:
					states = append(states, e.Status.State)
				case *a2a.TaskStatusUpdateEvent:
					states = append(states, e.Status.State)
				}
				if len(states) == 1 {
					w.start(t, "", map[string]any{"message": map[string]any{
						"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{map[string]any{"text": "answer"}},
					}})
				}
			}
			if len(states) < 2 || states[0] != a2a.TaskStateInputRequired || states[len(states)-1] != a2a.TaskStateCompleted {
				t.Errorf("got %v", states)
			}
		})
	}
}

// TestStreamsAreRefusedAsStreams: a JSON-RPC client that waits for a stream finds
// the error there, whatever it is that is refused.
func TestStreamsAreRefusedAsStreams(t *testing.T) {
	t.Parallel()
	srv := newServer(t, conforming(nil), executor.Extensions(a2a.AgentExtension{URI: "https://example.com/x", Required: true}))
	named := map[string]string{"A2A-Extensions": "https://example.com/x"}
	for name, c := range map[string]struct {
		body   string
		header map[string]string
		want   string
	}{
		"fields":     {`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`, named, "-32602"},
		"extensions": {`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"x"}}`, nil, "-32008"},
		"version":    {`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}`, map[string]string{"A2A-Version": "9.0"}, "-32009"},
		"no JSON":    {`{`, map[string]string{"A2A-Extensions": "https://example.com/x", "Accept": "text/event-stream"}, "-32700"},
		"a task":     {`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"x"}}`, named, "-32001"},
	} {
		got := callServer(t, srv, http.MethodPost, "/", c.body, c.header)
		_, data, _ := strings.Cut(got.Body.String(), "data: ")
		if got.Code != 200 || got.Header().Get("Content-Type") != "text/event-stream" || !strings.Contains(data, c.want) {
			t.Errorf("%s: got %d %v %s", name, got.Code, got.Header(), got.Body)
		}
	}
	got := callServer(t, srv, http.MethodPost, "/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`, named)
	if got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("a blocking call: got %v", got.Header())
	}
}

// ownedStore is a store of the user's that tells whose a task is, and leaves the
// rest to the server.
type ownedStore struct {
	taskstore.Store
	owners sync.Map
}

func (s *ownedStore) Create(ctx context.Context, t *a2a.Task) (taskstore.TaskVersion, error) {
	if c, ok := a2asrv.CallContextFrom(ctx); ok {
		s.owners.Store(t.ID, c.User.Name)
	}
	return s.Store.Create(ctx, t)
}

func (s *ownedStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	st, err := s.Store.Get(ctx, id)
	if owner, ok := s.owners.Load(id); ok && err == nil {
		st.User, _ = owner.(string)
	}
	return st, err
}

// TestOwnStoreKeepsUsersApart: one that says whose a task is.
func TestOwnStoreKeepsUsersApart(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.TaskStore(&ownedStore{Store: taskstore.NewInMemory(nil)}), executor.BearerAuth(executor.VerifierFunc(verifyNames)))
	ada, bob := map[string]string{"Authorization": "Bearer ada"}, map[string]string{"Authorization": "Bearer bob"}
	made := w.ask(t, "JSON-RPC", request{op: "SendMessage", params: say("ask", nil), header: ada})
	task, _ := made.result["task"].(map[string]any)
	id, _ := task["id"].(string)
	for _, r := range []row{
		{name: "the owner", request: request{op: "GetTask", params: map[string]any{"id": id}, header: ada}},
		{name: "another", request: request{op: "GetTask", params: map[string]any{"id": id}, header: bob}, reason: "TASK_NOT_FOUND", taskID: id},
		{name: "an answer of another's", request: request{op: "SendMessage", params: say("x", map[string]any{"taskId": id}), header: bob}, reason: "TASK_NOT_FOUND", taskID: id},
	} {
		r.run(t, w)
	}
}

// brokenAnswers puts what cannot be encoded into every answer.
type brokenAnswers struct {
	a2asrv.PassthroughCallInterceptor
}

type panicsAsJSON struct{}

func (panicsAsJSON) MarshalJSON() ([]byte, error) { panic("hunter2") }

func (brokenAnswers) After(_ context.Context, _ *a2asrv.CallContext, res *a2asrv.Response) error {
	if task, ok := res.Payload.(*a2a.Task); ok {
		res.Payload = &a2a.Task{ID: task.ID, Artifacts: []*a2a.Artifact{nil, {Parts: a2a.ContentParts{nil, a2a.NewDataPart(panicsAsJSON{})}}}}
	}
	return nil
}

// TestAnswersThatCannotBeEncoded: a binding that panics, or cannot encode what
// an interceptor made of an answer, gives an internal error.
func TestAnswersThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	w := serve(t, conforming(nil), executor.Interceptors(brokenAnswers{}))
	for _, b := range bindingNames {
		for _, op := range []string{"SendMessage", "SendStreamingMessage"} {
			got := w.ask(t, b, request{op: op, params: say("hi", nil)})
			if !got.failed || got.reason != "INTERNAL_ERROR" || got.data["correlationId"] == "" || strings.Contains(got.raw, "hunter2") {
				t.Errorf("%s %s: got %+v", b, op, got)
			}
		}
	}
}
