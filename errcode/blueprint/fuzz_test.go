package blueprint_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

// FuzzParseEnvelope: whatever is received gives a typed error that can be sent on, and the trip
// after that changes nothing.
func FuzzParseEnvelope(f *testing.F) {
	for _, s := range []string{
		seedTimeout, seedValidation, ``, `{}`, `{"error":"x"}`, `{"error":{"code":"NEW"}}`,
		`{"error":{"code":"RATE_LIMITED","message":1,"details":[],"retry":[]}}`,
		`{"error":{"code":"PERMISSION_DENIED","details":{"application_error":{"errorCode":"GUARDRAIL_BLOCKED","guardrail":{"violationCategory":"PII"}}}}}`,
		`{"error":{"code":"VERSION_INCOMPATIBLE","details":{"application_error":{"errorCode":"RATE_LIMITED","errorReason":"r","retriable":true}},"retry":{"suggested_delay_ms":"1e999"}}}`,
		`{"error":{"code":"SKILL_NOT_FOUND","details":{"application_error":{"details":{"violations":1}},"violations":[{"field":"/a","x":1}]}}}`,
	} {
		f.Add(503, []byte(s))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		err := blueprint.FromResponse(response(status, nil, string(body)))
		if (err == nil) != (status >= 200 && status <= 299) {
			t.Fatalf("status %d gives %v", status, err)
		}
		env, err := blueprint.Parse(body)
		if err != nil {
			_ = typed(t, err)
			return
		}
		if e := env.Err(); env.Error.Code.Never() && e.Retriable() && !e.Code().Never() {
			t.Fatalf("%s became %v, retriable", env.Error.Code, e)
		}
		asIs := errcode.Builder{Redact: func(s string) string { return s }, MaxMessage: blueprint.MaxBody}
		first, err := asIs.Data(env.Err())
		if err != nil {
			t.Fatalf("cannot be sent on: %v", err)
		}
		wire, err := json.Marshal(blueprint.FromData(first))
		if err != nil {
			t.Fatal(err)
		}
		env, err = blueprint.Parse(wire)
		if err != nil {
			t.Fatal(err)
		}
		second, err := asIs.Data(env.Err())
		if diff := cmp.Diff(first, second); err != nil || diff != "" {
			t.Fatalf("%v: the second trip changes it:\n%s", err, diff)
		}
	})
}

// FuzzDescriptor: a verdict on anything, with violations that can be sent.
func FuzzDescriptor(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `[]`, `{"capability_type":"api","endpoint":{"url":"https://a.b"}}`,
		`{"capability_type":7,"endpoint":"x"}`, `{"endpoint":{"url":"http://[::1"}}`,
	} {
		f.Add([]byte(s), "/id")
	}
	f.Fuzz(func(t *testing.T, descriptor []byte, required string) {
		err := blueprint.ValidateDescriptor(descriptor, required)
		if err == nil {
			if !json.Valid(descriptor) {
				t.Fatal("accepted what is not JSON")
			}
			return
		}
		e := typed(t, err)
		if e.Code() != errcode.InvalidInput || len(e.Violations()) == 0 {
			t.Fatalf("got %v", e)
		}
		for _, v := range e.Violations() {
			if v.Message == "" || v.Expected == "" || v.Field != "" && v.Field != required && !strings.HasPrefix(v.Field, "/") {
				t.Fatalf("got %+v", v)
			}
		}
		if _, err := (errcode.Builder{}).Data(e); err != nil {
			t.Fatalf("cannot be sent: %v", err)
		}
	})
}
