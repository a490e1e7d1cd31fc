package executor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// ports are those that Serve listens on.
type ports struct{ http, grpc string }

// serving runs Serve on the addresses for the length of a test. All interfaces
// are what some of these tests are about.
func serving(t *testing.T, addr, grpcAddr string, opts ...executor.Option) ports {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, served := make(chan ports, 1), make(chan error, 1)
	portOf := func(a net.Addr) string {
		_, port, err := net.SplitHostPort(a.String())
		if err != nil {
			t.Error(err)
		}
		return port
	}
	opts = append(opts, quiet, executor.GRPCAddr(grpcAddr), executor.OnListen(func(h, g net.Addr) { ready <- ports{portOf(h), portOf(g)} }))
	go func() { served <- executor.Serve(ctx, addr, echo("a"), opts...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	select {
	case p := <-ready:
		return p
	case err := <-served:
		served <- nil
		t.Fatal(err)
		return ports{}
	}
}

// cardFor reads the card as if by that host.
func (p ports) cardFor(t *testing.T, host string) (urls []string, header http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+p.http+"/.well-known/agent-card.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, body := fetch(t, req)
	return interfaceURLs(t, []byte(body)), res.Header
}

// interfaceURLs gives each address of a card once.
func interfaceURLs(t *testing.T, body []byte) []string {
	t.Helper()
	card := &a2a.AgentCard{}
	if err := json.Unmarshal(body, card); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var out []string
	for _, i := range card.SupportedInterfaces {
		out = append(out, i.URL)
	}
	return slices.Compact(out)
}

// TestServeTellsTheRequestedHost: a server on all interfaces told every client
// that it was at localhost.
func TestServeTellsTheRequestedHost(t *testing.T) {
	t.Parallel()
	all := func(base, rpc string) []string {
		return []string{base + "/", base + "/v1", base + "/v0.3", rpc}
	}
	for _, on := range [][2]string{{":0", ":0"}, {"0.0.0.0:0", "0.0.0.0:0"}, {"127.0.0.1:0", ":0"}} {
		t.Run(on[0]+" and gRPC "+on[1], func(t *testing.T) {
			t.Parallel()
			p := serving(t, on[0], on[1])
			for host, name := range map[string]string{
				"agent.example.com:18371": "agent.example.com", "agent.example.com": "agent.example.com", "192.0.2.7:80": "192.0.2.7",
				"[2001:db8::1]:8080": "2001:db8::1", "localhost:" + p.http: "localhost", "127.0.0.1:" + p.http: "127.0.0.1",
			} {
				got, header := p.cardFor(t, host)
				if diff := cmp.Diff(all("http://"+host, net.JoinHostPort(name, p.grpc)), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", host, diff)
				}
				if !slices.Contains(header.Values("Vary"), "Host") {
					t.Errorf("%s: Vary is %q", host, header.Values("Vary"))
				}
			}
		})
	}
	t.Run("one address, behind a mapping of ports", func(t *testing.T) {
		t.Parallel()
		p := serving(t, "127.0.0.1:0", "127.0.0.1:0")
		got, _ := p.cardFor(t, "agent.example.com")
		if diff := cmp.Diff(all("http://agent.example.com", "127.0.0.1:"+p.grpc), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("BaseURL", func(t *testing.T) {
		t.Parallel()
		p := serving(t, "127.0.0.1:0", ":0", executor.BaseURL("https://agents.example.com/loans"))
		got, header := p.cardFor(t, "other.example.com")
		if diff := cmp.Diff(all("https://agents.example.com/loans", "agents.example.com:"+p.grpc), got); diff != "" || slices.Contains(header.Values("Vary"), "Host") {
			t.Errorf("Vary %q (-want +got):\n%s", header.Values("Vary"), diff)
		}
	})
	t.Run("no host", func(t *testing.T) {
		t.Parallel()
		p := serving(t, "127.0.0.1:0", ":0")
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+p.http)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprint(conn, "GET /.well-known/agent-card.json HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all("http://127.0.0.1:"+p.http, "127.0.0.1:"+p.grpc), interfaceURLs(t, body)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestExtendedCardOverGRPCTellsTheRequestedHost: gRPC has no URL, but an
// authority.
func TestExtendedCardOverGRPCTellsTheRequestedHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ http, authority, want string }{
		{":0", "agent.example.com:9090", "agent.example.com"},
		{":0", "agent.example.com", "agent.example.com"},
		{":0", "[2001:db8::1]:9", "[2001:db8::1]"},
		{"127.0.0.1:0", "agent.example.com:9090", "127.0.0.1"},
	} {
		t.Run(c.http+" "+c.authority, func(t *testing.T) {
			t.Parallel()
			p := serving(t, c.http, ":0", executor.BearerAuth(executor.VerifierFunc(verifyNames)),
				executor.ExtendedCard(func(_ context.Context, _ agent.User, public *a2a.AgentCard) (*a2a.AgentCard, error) {
					return public, nil
				}))
			conn, err := grpc.NewClient("127.0.0.1:"+p.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority(c.authority))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer ada")
			card, err := a2apb.NewA2AServiceClient(conn).GetExtendedAgentCard(ctx, &a2apb.GetExtendedAgentCardRequest{})
			if err != nil {
				t.Fatal(err)
			}
			base := "http://" + c.want + ":" + p.http
			for _, i := range card.GetSupportedInterfaces() {
				if i.GetProtocolBinding() == "GRPC" {
					if want := c.want + ":" + p.grpc; i.GetUrl() != want {
						t.Errorf("gRPC at %s, want %s", i.GetUrl(), want)
					}
				} else if !strings.HasPrefix(i.GetUrl(), base+"/") {
					t.Errorf("%s is not below %s", i.GetUrl(), base)
				}
			}
		})
	}
}
