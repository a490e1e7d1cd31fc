package interop

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

// extension is the application-error extension that the card declares.
const extension = "https://github.com/a2aexec/a2aexec/extensions/application-error/v1"

// situation is a column of the matrix: a few calls, and what each must give.
type situation struct {
	name, what string // what: for the page
	turns      []turn
}

// turn is one call. A turn after the first is about the task of the first.
type turn struct {
	name  string // of a later turn
	req   wire.Request
	want  outcome
	order string // of the events, when streamed; "" for a call that cannot be
	same  bool   // the call is the same in both modes
	falls bool   // a stream falls back to a blocking run, which fails too, and counts it
}

// send is a turn that sends a text, blocking or streamed.
func send(text string, want outcome, order string) turn {
	return turn{req: wire.Request{Text: text}, want: want, order: order}
}

// get asks for the task afterwards.
func get(want outcome) turn {
	return turn{name: "get", req: wire.Request{Op: "get"}, want: want, same: true}
}

const failed = "task:working status:failed"

var situations = []situation{
	{"ok", "a task that completes", []turn{
		send("ok", outcome{State: "completed", Artifacts: []string{"ok"}}, "task:working artifact status:completed"),
	}},
	failure("INVALID_INPUT", "error missing-field", said("missing required field account_id"), failed, data{
		"errorReason": "missing_field_error", "retriable": false,
		"violations": []any{map[string]any{"field": "/account_id", "expected": "a value", "message": "missing required field"}},
	}),
	failure("AUTH_REQUIRED", "error http-401", said("look up the account: GET http://bank.internal/accounts: HTTP 401 Unauthorized"), failed, data{
		"errorReason": "http_status_error", "retriable": false,
	}),
	failure("NOT_FOUND", "domain DOC_002", said("There is no such document."), failed, data{
		"errorReason": "document_missing", "retriable": false, "errorSource": "db:documents",
		"domain": "subject-management", "domainCode": "DOC_002",
	}),
	failure("UPSTREAM_UNAVAILABLE", "error http-503", said("look up the account: GET http://bank.internal/accounts: HTTP 503 Service Unavailable"), failed, data{
		"errorReason": "http_status_error", "retriable": true, "retryAfterMs": json.Number("5000"),
	}),
	failure("UPSTREAM_TIMEOUT", "error timeout", said("ask the index: context deadline exceeded"), failed, data{
		"errorReason": "deadline_exceeded", "retriable": true,
	}),
	failure("RATE_LIMITED", "app", said("The classifier's daily quota is used up."), failed, data{
		"errorReason": "classifier_quota_exceeded", "retriable": true, "retryAfterMs": json.Number("60000"),
		"errorSource": "llm:gpt/classify", "domain": "subject-management",
	}),
	failure("GUARDRAIL_BLOCKED", "error guardrail", said("The answer held personal data."), failed, data{
		"errorReason": "guardrail_blocked_error", "retriable": false, "errorSource": "guardrail:personal-data",
		"guardrail": map[string]any{"violationCategory": "personal_data"},
	}),
	failure("INTERNAL_ERROR", "error unknown", said("something odd happened"), failed, data{
		"errorReason": "internal_error", "retriable": false,
	}),
	failure("UPSTREAM_UNAVAILABLE", "flow fail", outcome{
		Said:      []string{"run node rag_search: invoke component bank: the ledger is closed"},
		Artifacts: []string{"loan 4711"},
	}, "task:working artifact status:failed", data{
		"errorReason": "component_invoke_error", "retriable": true,
		"node": map[string]any{"id": "rag_search", "kind": "business"},
		"flow": map[string]any{"id": "loan", "completedNodes": []any{"fetch_subject"}},
	}).named("failed node", "a flow's node fails: the node, what completed before it, and its artifact"),
	failure("UPSTREAM_UNAVAILABLE", "stream-fail 3", outcome{
		Said:      []string{"invoke component bank: the ledger is closed"},
		Artifacts: []string{"chunk-1 chunk-2 chunk-3 "},
	}, "task:working artifact status:failed", data{
		"errorReason": "component_invoke_error", "retriable": true,
	}).named("broken stream", "three chunks, then a failure: the artifact is whole, once, and closed"),
	question("ask", "Ada", outcome{
		State: "input-required", Said: []string{"What is your name?"}, Schema: "input-required/v1",
		Data: data{"field": "name", "question": "What is your name?"},
	}).named("ask, answer", "a question, and the message that answers it"),
	question("auth", "done", outcome{
		State: "auth-required", Said: []string{"Please sign in to your bank."}, Schema: "auth-required/v1",
		Data: data{
			"question": "Please sign in to your bank.", "scheme": "oauth2", "scopes": []any{"accounts.read"},
			"provider": "bank", "url": "https://login.bank.example/authorize",
		},
	}).named("auth, answer", "credentials are asked for, the stream ends, and a message resumes the task"),
	{"cancel", "a task at work is canceled", []turn{
		{req: wire.Request{Text: "slow 30", Cancel: true}, want: outcome{State: "canceled"}, order: "task:working status:canceled"},
		get(outcome{State: "canceled"}),
	}},
	{"unknown task", "a task that does not exist: asked for, and written to", []turn{
		{name: "get", req: wire.Request{Op: "get", TaskID: "no-such-task"}, want: outcome{Error: "task not found"}, same: true},
		{name: "send", req: wire.Request{Text: "ok", TaskID: "no-such-task"}, want: outcome{Error: "task not found"}, order: "-"},
	}},
	{"extension", "the application-error extension is asked for, and named as active", []turn{
		{
			req:   wire.Request{Text: "ok", Extension: extension},
			want:  outcome{State: "completed", Artifacts: []string{"ok"}, Activated: extension},
			order: "task:working artifact status:completed",
		},
	}},
}

// final are the codes after which a second run cannot help.
var final = []string{"INVALID_INPUT", "AUTH_REQUIRED", "GUARDRAIL_BLOCKED"}

type data = map[string]any

func said(text string) outcome { return outcome{Said: []string{text}} }

// failure is a situation in which the task fails with a code, and says the
// same when it is asked for again.
func failure(code, text string, want outcome, order string, d data) situation {
	want.State, want.Schema, want.Data = "failed", "application-error/v1", data{
		"errorCode": code, "errorMessage": want.Said[0], "domain": "showcase", "correlationId": "some",
	}
	maps.Copy(want.Data, d)
	turns := []turn{send(text, want, order), get(want)}
	for i := range turns {
		turns[i].falls = order == failed && !slices.Contains(final, code)
	}
	return situation{code, "a task that fails with " + code + ", asked for again by `GetTask`", turns}
}

func (s situation) named(name, what string) situation {
	s.name, s.what = name, what
	return s
}

// question is a situation in which the task waits for an answer, says so when
// it is asked for again, and goes on with the next message.
func question(text, answer string, want outcome) situation {
	resumed := send(answer, outcome{State: "completed", Artifacts: []string{"you said: " + answer}},
		"task:working artifact status:completed")
	resumed.name = "answer"
	return situation{turns: []turn{send(text, want, "task:working status:"+want.State), get(want), resumed}}
}
