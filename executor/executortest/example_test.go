package executortest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
	"github.com/a2aexec/a2aexec/hitl"
)

// teller is the agent under test.
func teller(_ context.Context, req *agent.Request) (*agent.Result, error) {
	switch {
	case req.Text() == "":
		return nil, hitl.InputRequired("Which account?")
	case req.Text() != "A1":
		return nil, errcode.New(errcode.NotFound, "no_account", errcode.Message("No such account."))
	}
	return agent.Text("12.50"), nil
}

func ExampleRun() {
	testTeller := func(t *testing.T) {
		t.Helper()
		a := agent.New("bank-teller", agent.Invoke(teller))

		got := executortest.Run(t, a, "A1")
		got.AssertCompleted(t)
		got.AssertText(t, "12.50")

		failure := executortest.Run(t, a, "B2").AssertFailed(t, errcode.NotFound,
			executortest.Reason("no_account"),
			executortest.Retriable(false))
		t.Log(failure.CorrelationID)
	}
	_ = testTeller
}

func ExampleGot_Reply() {
	testQuestion := func(t *testing.T) {
		t.Helper()
		asked := executortest.Run(t, agent.New("bank-teller", agent.Invoke(teller)), "")
		asked.AssertInputRequired(t, "Which account?")
		asked.Reply(t, "A1").AssertText(t, "12.50")
	}
	_ = testQuestion
}

// What a failed assertion says.
func ExampleGot_AssertFailed() {
	t := printT{} // a *testing.T in a test
	got := executortest.Run(t, agent.New("bank-teller", agent.Invoke(teller)), "B2")
	got.AssertFailed(t, errcode.InvalidInput, executortest.Reason("account_unknown"))
	// Output:
	// errorCode: got NOT_FOUND, want INVALID_INPUT (failed with NOT_FOUND no_account: No such account.)
	// errorReason: got "no_account", want "account_unknown"
}

type printT struct{}

func (printT) Helper()                           {}
func (printT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printT) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
