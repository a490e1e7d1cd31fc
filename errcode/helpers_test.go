package errcode_test

import (
	"errors"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
)

// fullError sets everything an error can carry.
func fullError() *errcode.Error {
	return errcode.New(errcode.GuardrailBlocked, "pii_in_answer",
		errcode.Message("The answer held personal data."),
		errcode.Cause(errors.New("private: rule 17 of tenant 4")),
		errcode.Retriable(true),
		errcode.RetryAfter(1500*time.Millisecond),
		errcode.Retried(2),
		errcode.Domain("subject-management"),
		errcode.DomainCode("DOC_005"),
		errcode.AtNode("check", "business"),
		errcode.InFlow("intake", "fetch", "parse", "fetch"),
		errcode.Guardrail("Personal Data", map[string]any{"rules": []string{"ssn"}, "score": 0.75}),
		errcode.Violations(errcode.Violation{
			Field: "/answer/0", Expected: "no personal data", Actual: "a name", Message: "found a name",
		}),
		errcode.Detail("documents", []int{3, 4}),
		errcode.Detail("password", "hunter2"),
		errcode.CorrelationID("0198-abc"),
	)
}
