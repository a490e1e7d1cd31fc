package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// httpSender is the default push.Sender. It sends what A2A v1.0 section 4.3.3 and,
// to receivers of a client of 0.3, section 9.5 of that one ask for; the host's has
// another content type, knows two schemes of authentication, and 1.0 alone.
type httpSender struct{ client *http.Client }

// newHTTPSender makes a sender that connects to public addresses, unless it may
// to private ones: the URLs are the clients'.
func newHTTPSender(timeout time.Duration, private bool) *httpSender {
	dialer := &net.Dialer{Timeout: timeout}
	if !private {
		dialer.Control = publicOnly
	}
	return &httpSender{&http.Client{
		Timeout:       timeout,
		CheckRedirect: redirected,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: timeout,
		},
	}}
}

var errPrivateAddress = errors.New("the address is not a public one")

// publicOnly looks at the address of each connection, when its name has been
// looked up and redirects have been followed.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, errPrivateAddress)
	}
	ip := at.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return fmt.Errorf("%s: %w", ip, errPrivateAddress)
	}
	return nil
}

// The headers of a client's token.
const (
	tokenHeader    = "A2A-Notification-Token"
	oldTokenHeader = "X-" + tokenHeader
)

// redirected keeps the token from another host, as net/http does the credentials.
func redirected(r *http.Request, via []*http.Request) error {
	const most = 10
	if len(via) >= most {
		return errors.New("too many redirects")
	}
	if r.URL.Host != via[len(via)-1].URL.Host {
		r.Header.Del(tokenHeader)
		r.Header.Del(oldTokenHeader)
	}
	return nil
}

// SendPush implements push.Sender.
func (s *httpSender) SendPush(ctx context.Context, to *a2a.PushConfig, event a2a.Event) error {
	return s.send(ctx, to, a2a.StreamResponse{Event: event}, "application/a2a+json", tokenHeader)
}

// sendOld sends a task as A2A 0.3 has it.
func (s *httpSender) sendOld(ctx context.Context, to *a2a.PushConfig, task *a2a.Task) error {
	return s.send(ctx, to, a2av0.FromV1Task(task), mediaJSON, oldTokenHeader)
}

func (s *httpSender) send(ctx context.Context, to *a2a.PushConfig, body any, media, token string) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode notification: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("make notification: %w", err)
	}
	req.Header.Set("Content-Type", media)
	if to.Token != "" {
		req.Header.Set(token, to.Token)
	}
	if a := to.Auth; a != nil && a.Scheme != "" && a.Credentials != "" {
		req.Header.Set("Authorization", schemeName(a.Scheme)+" "+a.Credentials)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("send notification: %w", err)
	}
	_ = res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		return fmt.Errorf("send notification: the receiver answers %s", res.Status)
	}
	return nil
}

// schemeName writes the common schemes as receivers expect them: their case does
// not count, but not everybody knows.
func schemeName(scheme string) string {
	for _, name := range []string{"Bearer", "Basic"} {
		if strings.EqualFold(scheme, name) {
			return name
		}
	}
	return scheme
}
