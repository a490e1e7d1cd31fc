package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/agent/remote"
	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/flow"
)

// teller is an agent that somebody else runs.
var teller = agent.New("teller", agent.Invoke(agent.TextFunc(func(_ context.Context, text string) (string, error) {
	if !strings.HasPrefix(text, "balance of ") {
		return "", errcode.New(errcode.RateLimited, "quota_exceeded", errcode.Message("Too many questions."), errcode.RetryAfter(time.Minute))
	}
	return "42.00 EUR", nil
})))

// elsewhere serves an agent on loopback until stop is called.
func elsewhere(a *agent.Agent) (address string, stop func()) {
	srv, err := executor.NewServer(a, executor.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		log.Fatal(err)
	}
	hs := httptest.NewServer(srv)
	return hs.URL, hs.Close
}

func ExampleAgent_Call() {
	address, stop := elsewhere(teller)
	defer stop()
	bank, err := remote.New(address, remote.Name("bank"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = bank.Close() }()

	answer, err := bank.Call(context.Background(), remote.Text("balance of 4711"))
	fmt.Println(answer.Text(), err)

	_, err = bank.Call(context.Background(), remote.Text("the meaning of life"))
	var failure *errcode.Error
	if errors.As(err, &failure) {
		delay, _ := failure.RetryAfter()
		fmt.Println(failure.Code(), failure.Reason(), "again in", delay)
		fmt.Println("source:", strings.Replace(failure.Source(), strings.TrimPrefix(address, "http://"), "HOST", 1))
	}
	// Output:
	// 42.00 EUR <nil>
	// RATE_LIMITED quota_exceeded again in 1m0s
	// source: http:HOST/bank
}

// An agent that stands in front of another: chunks, failures, questions and
// cancels pass through.
func ExampleAgent_Handle() {
	address, stop := elsewhere(teller)
	defer stop()
	bank, err := remote.New(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = bank.Close() }()
	front, stopFront := elsewhere(agent.New("front", agent.Stream(bank.Handle)))
	defer stopFront()

	client, err := remote.New(front)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	answer, err := client.Call(context.Background(), remote.Text("balance of 4711"))
	fmt.Println(answer.Text(), err)
	// Output:
	// 42.00 EUR <nil>
}

// Another agent as a tool of a model's.
func ExampleAgent_Tool() {
	address, stop := elsewhere(teller)
	defer stop()
	bank, err := remote.New(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = bank.Close() }()

	type question struct {
		Text string `json:"text" jsonschema:"what to ask the bank"`
	}
	ask := bank.Tool()
	asking := tool.Func("bank", "Asks the bank.", func(ctx context.Context, q question) (string, error) {
		return ask(ctx, q.Text)
	})
	// A tool.Loop would be given it; it is called here as a model would.
	out, err := asking.Call(context.Background(), json.RawMessage(`{"text":"balance of 4711"}`))
	fmt.Println(out.Text, err)
	// Output:
	// 42.00 EUR <nil>
}

func ExampleNode() {
	address, stop := elsewhere(teller)
	defer stop()
	bank, err := remote.New(address)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = bank.Close() }()

	type state struct{ Account, Balance string }
	g := flow.New[state]("report")
	balance := flow.Node(g, "balance", "remote",
		remote.Node(bank, func(s state) remote.Message { return remote.Text("balance of " + s.Account) }),
		func(s *state, out string) { s.Balance = out })
	g.Edge(flow.START, balance)
	g.Edge(balance, flow.END)
	report, err := g.Compile()
	if err != nil {
		log.Fatal(err)
	}
	res, err := report.Run(context.Background(), "run-1", state{Account: "4711"})
	fmt.Println(res.State.Balance, err)
	// Output:
	// 42.00 EUR <nil>
}
