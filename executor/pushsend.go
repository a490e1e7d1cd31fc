package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2aexec/a2aexec/errcode"
)

// Where the token of a config stands. The specification's example for 1.0 has
// the same header as 0.3, the host's sender another one, without the X; a
// receiver of 1.0 may have been written to either.
const (
	tokenHeader     = "X-A2A-Notification-Token"
	tokenHeaderHost = "A2A-Notification-Token"
)

const mediaA2A = "application/a2a+json"

// NewPushRequest makes the HTTP request that tells a receiver of an event, for
// a push.Sender with an HTTP client of its own; it is what the default sender
// sends. Any 2xx status accepts it.
//
// The body of a receiver of A2A 1.0 is the StreamResponse of the event, as
// application/a2a+json (A2A v1.0.1 section 4.3.3); that of one of 0.3 the event
// itself, of which [Push] sends tasks only, as application/json. The config's
// credentials are sent as they are, under their scheme, in Authorization, its token in
// X-A2A-Notification-Token, and for 1.0 in A2A-Notification-Token too. The
// config is one that Push gave to the sender: its tenant tells a receiver of 0.3.
func NewPushRequest(ctx context.Context, config *a2a.PushConfig, event a2a.Event) (*http.Request, error) {
	if config == nil || event == nil {
		return nil, errors.New("make a push request: expected a config and an event, got nil")
	}
	body, media, err := pushBody(event, of03(config))
	if err != nil {
		return nil, fmt.Errorf("make a push request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a push request: %w", withoutURL(err))
	}
	req.Header.Set("Content-Type", media)
	if config.Token != "" {
		req.Header.Set(tokenHeader, config.Token)
		if !of03(config) {
			req.Header.Set(tokenHeaderHost, config.Token)
		}
	}
	if auth := config.Auth; auth != nil && auth.Scheme != "" && auth.Credentials != "" {
		req.Header.Set("Authorization", auth.Scheme+" "+auth.Credentials)
	}
	return req, nil
}

func pushBody(event a2a.Event, old bool) (body []byte, media string, err error) {
	if !old {
		body, err = json.Marshal(a2a.StreamResponse{Event: event})
		return body, mediaA2A, err
	}
	e, err := a2av0.FromV1Event(event)
	if err != nil {
		return nil, "", err
	}
	body, err = json.Marshal(e)
	return body, mediaJSON, err
}

// webhooks is the default push.Sender.
type webhooks struct{ client *http.Client }

// newWebhooks makes one that connects to public addresses only, unless private
// ones are allowed. It follows no redirects: most would turn the POST into a GET,
// and what the receiver is to prove its trust by would go elsewhere.
func newWebhooks(private bool) *webhooks {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.ControlContext = onlyPublic
	}
	return &webhooks{&http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
		},
	}}
}

// SendPush implements push.Sender.
func (s *webhooks) SendPush(ctx context.Context, config *a2a.PushConfig, event a2a.Event) error {
	req, err := NewPushRequest(ctx, config, event)
	if err != nil {
		return errcode.New(errcode.Internal, "push_unsendable", errcode.Cause(err)) // nor is it later
	}
	res, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("send to the receiver: %w", withoutURL(err))
	}
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // so that the connection can be used again
	_ = res.Body.Close()
	return pushAnswer(res)
}

// pushAnswer is what a receiver's answer means.
func pushAnswer(res *http.Response) error {
	said := &errcode.HTTPStatusError{StatusCode: res.StatusCode, Header: res.Header}
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode < 400:
		return errcode.New(errcode.UpstreamUnavailable, "push_redirected", errcode.Retriable(false),
			errcode.Message("The receiver redirects, which is not followed."), errcode.Cause(said))
	}
	opts := []errcode.Option{errcode.Cause(said)}
	if d, ok := said.RetryAfter(time.Now()); ok {
		opts = append(opts, errcode.RetryAfter(d))
	}
	return errcode.New(errcode.UpstreamUnavailable, "push_refused", opts...)
}

// withoutURL takes the receiver's URL, which may hold a secret, out of an error
// that is to be logged.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// close lets go of connections that are not in use.
func (s *webhooks) close() { s.client.CloseIdleConnections() }
