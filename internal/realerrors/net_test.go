package realerrors_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/a2aexec/a2aexec/errcode"
)

func get(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.ReadAll(resp.Body)
	return err
}

func httpErrors(t *testing.T) []sample {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	cut := listening(t, func(c net.Conn) {
		readSome(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
	})
	closing := listening(t, readSome)
	reset := listening(t, func(c net.Conn) {
		readSome(c)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	})
	garbage := listening(t, func(c net.Conn) { readSome(c); _, _ = io.WriteString(c, "nonsense\r\n\r\n") })
	loop := answering(t, reply{status: 302, header: map[string]string{"Location": "/"}})
	slow := &http.Client{Timeout: 30 * time.Millisecond}
	return []sample{
		{"refused", get(t.Context(), client, "http://"+refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		{"deadline", get(soon(t), client, silent(t)), want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
		{"timeout of the client", get(t.Context(), slow, silent(t)), want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
		{"canceled", get(canceled, client, silent(t)), want{code: errcode.Internal, reason: "context_canceled"}},
		{"body cut short", get(t.Context(), client, "http://"+cut), want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
		{"closed without an answer", get(t.Context(), client, "http://"+closing), want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
		{"reset", get(t.Context(), client, "http://"+reset), want{code: errcode.UpstreamUnavailable, reason: "connection_reset"}},
		{"no HTTP", get(t.Context(), client, "http://"+garbage), want{code: errcode.UpstreamUnavailable, reason: "network_error"}},
		{"redirects without end", get(t.Context(), client, loop), want{code: errcode.UpstreamUnavailable, reason: "network_error"}},
		{"URL", get(t.Context(), client, "http://bad host/"), want{code: errcode.Internal, reason: "url_error"}},
	}
}

func readSome(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)) }

func netErrors(t *testing.T) []sample {
	t.Helper()
	var dialer net.Dialer
	_, refused := dialer.DialContext(t.Context(), "tcp", refusing(t))
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", refusing(t))
	}}
	_, lookup := resolver.LookupHost(t.Context(), "bank.invalid")
	_, network := net.Dial("carrier-pigeon", "127.0.0.1:1")

	quiet := listening(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	conn, err := dialer.DialContext(t.Context(), "tcp", quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	_, late := conn.Read(make([]byte, 1))
	_ = conn.Close()
	_, closed := conn.Read(make([]byte, 1))
	return []sample{
		{"refused", refused, want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		{"DNS", lookup, want{code: errcode.UpstreamUnavailable, reason: "dns_error"}},
		{"unknown network", network, want{code: errcode.UpstreamUnavailable, reason: "network_error"}},
		{"read deadline", late, want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
		{"closed by ourselves", closed, want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
	}
}

func osErrors(t *testing.T) []sample {
	t.Helper()
	_, missing := os.ReadFile(filepath.Join(t.TempDir(), "missing"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(r.Close(), w.Close()) })
	if err := r.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	_, late := r.Read(make([]byte, 1))
	return []sample{
		{"no such file", missing, want{code: errcode.Internal, reason: "path_error"}},
		{"deadline of a pipe", late, want{code: errcode.UpstreamTimeout, reason: "deadline_exceeded"}},
		{"no such program", exec.CommandContext(t.Context(), "no-such-program-here").Run(), want{code: errcode.Internal, reason: "exec_error"}},
	}
}

// http2Errors end in the middle of a body, as those of HTTP/1.1 do.
func http2Errors(t *testing.T) []sample {
	t.Helper()
	released := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		<-released
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(released) })
	start := func(path string) io.ReadCloser {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.ProtoMajor != 2 {
			t.Fatal(resp.Proto)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp.Body
	}
	_, aborted := io.ReadAll(start("/abort"))
	body := start("/close")
	s.CloseClientConnections()
	_, closed := io.ReadAll(body)
	chunk := listening(t, func(c net.Conn) {
		readSome(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	})
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	closedByPeer := want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}
	return []sample{
		{"stream aborted", aborted, closedByPeer},
		{"connection closed", closed, closedByPeer},
		{"stream of x/net", http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal}, closedByPeer},
		{"connection of x/net", http2.ConnectionError(http2.ErrCodeProtocol), closedByPeer},
		{"x/net goes away", http2.GoAwayError{ErrCode: http2.ErrCodeNo}, closedByPeer},
		{"bare net.ErrClosed", net.ErrClosed, closedByPeer},
		{"malformed chunk", get(t.Context(), plain, "http://"+chunk), want{code: errcode.UpstreamUnavailable, reason: "network_error"}},
	}
}
