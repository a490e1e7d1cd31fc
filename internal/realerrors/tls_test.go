package realerrors_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	grpccredentials "google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/a2aexec/a2aexec/errcode"
)

func tlsErrors(t *testing.T) []sample {
	t.Helper()
	final := func(reason string) want {
		return want{code: errcode.UpstreamUnavailable, reason: reason, final: true}
	}
	good, pool := secure(t, time.Now().Add(time.Hour), nil)
	expired, oldPool := secure(t, time.Now().Add(-time.Hour), nil)
	mutual, mutualPool := secure(t, time.Now().Add(time.Hour), &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13})
	modern, modernPool := secure(t, time.Now().Add(time.Hour), &tls.Config{MinVersion: tls.VersionTLS13})
	plain := answering(t, reply{status: 200})
	garbage := listening(t, func(c net.Conn) { readSome(c); _, _ = c.Write([]byte("220 mail.example ESMTP\r\n")) })
	trust := func(c *tls.Config) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}
	}
	call := func(c *tls.Config, url string) error { return get(t.Context(), trust(c), url) }
	mute := listening(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	hasty := &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: 30 * time.Millisecond}}
	hangUp := listening(t, readHello)
	return append(verifyErrors(t), []sample{
		{"dial, unknown authority", dialTLS(t, good, &tls.Config{MinVersion: tls.VersionTLS12}), final("certificate_verification_error")},
		{"dial, expired", dialTLS(t, expired, &tls.Config{RootCAs: oldPool, MinVersion: tls.VersionTLS12}), final("certificate_verification_error")},
		{"dial, other host", dialTLS(t, good, &tls.Config{RootCAs: pool, ServerName: "bank.example", MinVersion: tls.VersionTLS12}), final("certificate_verification_error")},
		{"dial, HTTP server", dialTLS(t, plain, &tls.Config{MinVersion: tls.VersionTLS12}), final("record_header_error")},
		{"no answer to the handshake", get(t.Context(), hasty, "https://"+mute), want{code: errcode.UpstreamTimeout, reason: "network_timeout"}},
		{"handshake cut short", call(&tls.Config{MinVersion: tls.VersionTLS12}, "https://"+hangUp), want{code: errcode.UpstreamUnavailable, reason: "connection_closed"}},
		{"handshake refused", call(&tls.Config{MinVersion: tls.VersionTLS12}, "https://"+refusing(t)), want{code: errcode.UpstreamUnavailable, reason: "connection_refused"}},
		{"gRPC, unknown authority", dialGRPC(t, good), want{code: errcode.UpstreamUnavailable, reason: "grpc_error"}}, // the status keeps but a text
		{"unknown authority", call(&tls.Config{MinVersion: tls.VersionTLS12}, good), final("certificate_verification_error")},
		{"expired", call(&tls.Config{RootCAs: oldPool, MinVersion: tls.VersionTLS12}, expired), final("certificate_verification_error")},
		{"other host", call(&tls.Config{RootCAs: pool, ServerName: "bank.example", MinVersion: tls.VersionTLS12}, good), final("certificate_verification_error")},
		{"client certificate missing", call(&tls.Config{RootCAs: mutualPool, MinVersion: tls.VersionTLS12}, mutual), final("tls_alert")},
		{"version", call(&tls.Config{RootCAs: modernPool, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}, modern), final("tls_alert")},
		{"HTTP server", call(&tls.Config{MinVersion: tls.VersionTLS12}, strings.Replace(plain, "http:", "https:", 1)), final("scheme_mismatch")},
		{"no TLS", call(&tls.Config{MinVersion: tls.VersionTLS12}, "https://"+garbage), final("record_header_error")},
	}...)
}

// readHello reads the first record of a handshake, all of it: what is left unread would reset the
// connection instead of closing it.
func readHello(c net.Conn) {
	var head [5]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, int64(head[3])<<8|int64(head[4]))
}

// dialTLS makes a handshake without HTTP.
func dialTLS(t *testing.T, url string, c *tls.Config) error {
	t.Helper()
	_, addr, _ := strings.Cut(url, "://")
	conn, err := (&tls.Dialer{Config: c}).DialContext(t.Context(), "tcp", addr)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func dialGRPC(t *testing.T, url string) error {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(url, "https://"),
		grpc.WithTransportCredentials(grpccredentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.Invoke(t.Context(), "/s.S/M", &emptypb.Empty{}, &emptypb.Empty{})
}

// verifyErrors are what crypto/x509 says when it is asked directly.
func verifyErrors(t *testing.T) []sample {
	t.Helper()
	good, _ := certificate(t, time.Now().Add(time.Hour))
	old, pool := certificate(t, time.Now().Add(-time.Hour))
	_, unknown := good.Leaf.Verify(x509.VerifyOptions{Roots: pool})
	_, expired := old.Leaf.Verify(x509.VerifyOptions{Roots: pool})
	final := func(reason string) want {
		return want{code: errcode.UpstreamUnavailable, reason: reason, final: true}
	}
	return []sample{
		{"verify, unknown authority", unknown, final("unknown_authority_error")},
		{"verify, expired", expired, final("certificate_invalid_error")},
		{"verify, other host", good.Leaf.VerifyHostname("bank.example"), final("hostname_error")},
	}
}

// certificate makes a certificate for the loopback interface that is its own authority and is valid
// until the time.
func certificate(t *testing.T, until time.Time) (cert tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// secure starts a server with a certificate of its own that is valid until the time.
func secure(t *testing.T, until time.Time, config *tls.Config) (url string, pool *x509.CertPool) {
	t.Helper()
	cert, pool := certificate(t, until)
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.Certificates = []tls.Certificate{cert}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.TLS = config
	s.Config.ErrorLog = nothing
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, pool
}
