package errcode_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
)

func ExampleNew() {
	err := errcode.New(errcode.RateLimited, "classifier_quota_exceeded",
		errcode.Message("The daily quota of the classifier is used up."),
		errcode.RetryAfter(time.Minute),
		errcode.Cause(errors.New("bucket 7 of tenant 42 is empty")))

	fmt.Println(err)
	fmt.Println(err.Retriable(), errors.Unwrap(err))
	// Output:
	// RATE_LIMITED classifier_quota_exceeded: The daily quota of the classifier is used up.
	// true bucket 7 of tenant 42 is empty
}

func ExampleIs() {
	err := fmt.Errorf("look up account: %w", &errcode.HTTPStatusError{StatusCode: 503})

	fmt.Println(errcode.Is(err, errcode.UpstreamUnavailable))
	fmt.Println(errcode.CodeOf(errors.New("anything else")))
	// Output:
	// true
	// INTERNAL_ERROR
}

func ExampleWhen() {
	table := errcode.NewTable(
		errcode.When("no rows", func(err error) bool { return errors.Is(err, sql.ErrNoRows) },
			errcode.NotFound, "record_missing", errcode.Message("There is no such record.")))

	err := table.Convert(fmt.Errorf("load document: %w", sql.ErrNoRows))
	fmt.Println(err)
	fmt.Println(errors.Is(err, sql.ErrNoRows))
	// Output:
	// NOT_FOUND record_missing: There is no such record.
	// true
}

func ExampleOnError() {
	locked := errors.New("ledger is locked")
	table := errcode.NewTable(
		errcode.OnError(locked, errcode.UpstreamUnavailable, "ledger_locked", errcode.RetryAfter(time.Second)))

	class := table.Classify(fmt.Errorf("book: %w", locked))
	fmt.Println(class.Code, class.Reason, class.RetryAfter)
	// Output:
	// UPSTREAM_UNAVAILABLE ledger_locked 1s
}

func ExampleOnType() {
	table := errcode.NewTable(
		errcode.OnType[*fs.PathError](errcode.NotFound, "document_missing"))

	_, err := os.Open("no/such/document")
	fmt.Println(table.Classify(fmt.Errorf("load: %w", err)).Reason)
	// Output:
	// document_missing
}

func ExampleTable_Shadowed() {
	table := errcode.NewTable(
		errcode.OnType[*fs.PathError](errcode.NotFound, "document_missing"),
		errcode.OnType[*fs.PathError](errcode.Internal, "disk_fault"))

	for _, s := range table.Shadowed() {
		fmt.Println(s.Text)
	}
	// Output:
	// rule 1 (*fs.PathError) never matches: rule 0 (*fs.PathError) takes every such error
}

func ExampleBuilder() {
	err := errcode.New(errcode.UpstreamUnavailable, "bank_down", errcode.Source("http:bank.example"),
		errcode.Message("cannot reach https://svc:hunter2@bank.example"))

	data, _ := errcode.Builder{Domain: "account-agent"}.Data(err)
	fmt.Println(data.ErrorMessage)
	fmt.Println(data.Domain, data.Retriable)
	// Output:
	// cannot reach https://[redacted]@bank.example
	// account-agent true
}

func ExampleFromTask() {
	// What the agent on the other side sent.
	data, _ := errcode.Builder{}.Data(errcode.New(errcode.NotFound, "account_missing"))
	task := &a2a.Task{Status: a2a.TaskStatus{
		State:   a2a.TaskStateFailed,
		Message: a2a.NewMessage(a2a.MessageRoleAgent, data.Parts()...),
	}}

	err, failed := errcode.FromTask(task)
	fmt.Println(failed, errcode.Is(err, errcode.NotFound))
	fmt.Println(err.Reason())
	// Output:
	// true true
	// account_missing
}
