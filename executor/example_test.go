package executor_test

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/executor"
)

// keys is a verifier of API keys: it keeps their hashes only, and takes the
// same time whichever key is presented.
type keys map[string][sha256.Size]byte

// Verify implements executor.Verifier.
func (k keys) Verify(_ context.Context, credential string) (executor.Identity, error) {
	hash := sha256.Sum256([]byte(credential))
	found := ""
	for user, want := range k {
		if subtle.ConstantTimeCompare(hash[:], want[:]) == 1 {
			found = user
		}
	}
	if found == "" {
		return executor.Identity{}, errors.New("unknown key")
	}
	return executor.Identity{User: found, Scopes: []string{"messages.send"}}, nil
}

// A server that takes API keys. A verifier of bearer tokens, given to
// BearerAuth, would check a signature here, or ask the issuer.
func ExampleAPIKeyAuth() {
	a := agent.New("greeter", agent.Invoke(func(_ context.Context, req *agent.Request) (*agent.Result, error) {
		return agent.Text("Hello, " + req.User().Name), nil
	}))
	srv, err := executor.NewServer(a, executor.Logger(slog.New(slog.DiscardHandler)),
		executor.APIKeyAuth("X-API-Key", keys{"ada": sha256.Sum256([]byte("k-123"))}),
		executor.RequireScope("messages.send", "SendMessage", "SendStreamingMessage"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"", "k-123"} {
		req := httptest.NewRequest(http.MethodPost, "/v1/message:send",
			strings.NewReader(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`))
		req.Header.Set("X-API-Key", key)
		rec := httptest.NewRecorder()
		srv.ServeHTTP(rec, req)
		res := rec.Result()
		body, _ := io.ReadAll(res.Body)
		fmt.Println(res.StatusCode, res.Header.Get("WWW-Authenticate"), strings.Contains(string(body), "Hello, ada"))
	}
	// Output:
	// 401 ApiKey realm="greeter", header="X-API-Key" false
	// 200  true
}
