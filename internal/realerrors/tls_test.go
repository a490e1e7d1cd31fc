package realerrors_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	return []sample{
		{"unknown authority", call(&tls.Config{MinVersion: tls.VersionTLS12}, good), final("certificate_verification_error")},
		{"expired", call(&tls.Config{RootCAs: oldPool, MinVersion: tls.VersionTLS12}, expired), final("certificate_verification_error")},
		{"other host", call(&tls.Config{RootCAs: pool, ServerName: "bank.example", MinVersion: tls.VersionTLS12}, good), final("certificate_verification_error")},
		{"client certificate missing", call(&tls.Config{RootCAs: mutualPool, MinVersion: tls.VersionTLS12}, mutual), final("tls_alert")},
		{"version", call(&tls.Config{RootCAs: modernPool, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}, modern), final("tls_alert")},
		{"HTTP server", call(&tls.Config{MinVersion: tls.VersionTLS12}, strings.Replace(plain, "http:", "https:", 1)), final("scheme_mismatch")},
		{"no TLS", call(&tls.Config{MinVersion: tls.VersionTLS12}, "https://"+garbage), final("record_header_error")},
	}
}

// secure starts a server with a certificate of its own that is valid until the time.
func secure(t *testing.T, until time.Time, config *tls.Config) (url string, pool *x509.CertPool) {
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
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.TLS = config
	s.Config.ErrorLog = nothing
	s.StartTLS()
	t.Cleanup(s.Close)
	pool = x509.NewCertPool()
	pool.AddCert(cert)
	return s.URL, pool
}
