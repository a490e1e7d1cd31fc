// Command quickstart is the agent of the README.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
)

var a = agent.New("page-check", agent.Invoke(func(ctx context.Context, req *agent.Request) (*agent.Result, error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, req.Text(), nil)
	if err != nil {
		return nil, errcode.New(errcode.InvalidInput, "url_malformed", errcode.Message("Send me a URL."))
	}
	res, err := http.DefaultClient.Do(get)
	if err != nil {
		return nil, fmt.Errorf("fetch the page: %w", err) // the table does the rest
	}
	defer func() { _ = res.Body.Close() }()
	return agent.Text(req.Text() + " answers " + res.Status), nil
}))

func main() {
	log.Fatal(executor.Serve(context.Background(), "127.0.0.1:8080", a))
}
