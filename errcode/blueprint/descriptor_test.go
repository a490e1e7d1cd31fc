package blueprint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

func TestSeedDescriptor(t *testing.T) {
	t.Parallel()
	for _, descriptor := range []string{
		`{"capability_type":"unknown_type"}`,
		`{"capability_type":"unknown_type","endpoint":{}}`,
		`{"capability_type":"unknown_type","endpoint":{"url":null}}`,
	} {
		err := blueprint.ValidateDescriptor([]byte(descriptor))
		env := envelope(t, err)
		sameJSON(t, marshal(t, env), []byte(seedValidation))
		back := typed(t, blueprint.FromResponse(response(env.Status(), nil, string(marshal(t, env)))))
		if diff := cmp.Diff(typed(t, err).Violations(), back.Violations()); diff != "" || back.Code() != errcode.InvalidInput {
			t.Errorf("received %v %s", back, diff)
		}
	}
}

func TestValidDescriptors(t *testing.T) {
	t.Parallel()
	for _, capability := range []string{"plugin", "api", "knowledge", "task"} {
		for _, uri := range []string{
			"https://example.com/skill?x=1#f", "http://[::1]:8080", "grpc://host:1", "urn:skill:7", "mailto:a@b.c",
			"unix:///run/skill.sock", "https://example.com/%D0%B1", "https://пример.рф",
		} {
			d := `{"capability_type":"` + capability + `","endpoint":{"url":"` + uri + `"},"other":1}`
			if err := blueprint.ValidateDescriptor([]byte(d)); (err == nil) != isASCII(uri) {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f }) }

func TestDescriptorViolations(t *testing.T) {
	t.Parallel()
	const enum, uri = "one of: plugin, api, knowledge, task", "string (URI format)"
	missingURL := errcode.Violation{Field: "/endpoint/url", Expected: uri, Message: "Required field is missing"}
	missingType := errcode.Violation{Field: "/capability_type", Expected: enum, Message: "Required field is missing"}
	badURI := func(s string) errcode.Violation {
		return errcode.Violation{Field: "/endpoint/url", Expected: uri, Actual: s, Message: "Invalid URI"}
	}
	object := func(actual any, msg string) []errcode.Violation {
		return []errcode.Violation{{Expected: "JSON object", Actual: actual, Message: msg}}
	}
	cases := []struct {
		name, descriptor string
		required         []string
		want             []errcode.Violation
	}{
		{"empty", ``, nil, object(nil, "Invalid JSON")},
		{"not JSON", `{`, nil, object(nil, "Invalid JSON")},
		{"two values", `{} {}`, nil, object(nil, "Invalid JSON")},
		{"too large", strings.Repeat(" ", blueprint.MaxBody+1), nil, object(nil, "Invalid JSON")},
		{"an array", `[1]`, nil, object("an array", "Invalid type")},
		{"a number", `7`, nil, object(7.0, "Invalid type")},
		{"null", `null`, nil, object(nil, "Invalid type")},
		{"nothing", `{}`, nil, []errcode.Violation{missingType, missingURL}},
		{"nulls", `{"capability_type":null,"endpoint":null}`, nil, []errcode.Violation{missingType, missingURL}},
		{"types", `{"capability_type":{"a":1},"endpoint":{"url":5}}`, nil, []errcode.Violation{
			{Field: "/capability_type", Expected: enum, Actual: "an object", Message: "Invalid type"},
			{Field: "/endpoint/url", Expected: uri, Actual: 5.0, Message: "Invalid type"},
		}},
		{"endpoint is text", `{"capability_type":"api","endpoint":"https://a.b"}`, nil, []errcode.Violation{
			{Field: "/endpoint", Expected: "object", Actual: "https://a.b", Message: "Invalid type"},
		}},
		{"case matters", `{"capability_type":"API","endpoint":{"url":"https://a.b"}}`, nil, []errcode.Violation{
			{Field: "/capability_type", Expected: enum, Actual: "API", Message: "Invalid enum value"},
		}},
		{"relative", `{"capability_type":"api","endpoint":{"url":"/skills"}}`, nil, []errcode.Violation{badURI("/skills")}},
		{"empty URL", `{"capability_type":"api","endpoint":{"url":""}}`, nil, []errcode.Violation{badURI("")}},
		{"no host", `{"capability_type":"api","endpoint":{"url":"https:///x"}}`, nil, []errcode.Violation{badURI("https:///x")}},
		{"only a port", `{"capability_type":"api","endpoint":{"url":"http://:80"}}`, nil, []errcode.Violation{badURI("http://:80")}},
		{"only a scheme", `{"capability_type":"api","endpoint":{"url":"urn:"}}`, nil, []errcode.Violation{badURI("urn:")}},
		{"space", `{"capability_type":"api","endpoint":{"url":"https://a.b/c d"}}`, nil, []errcode.Violation{badURI("https://a.b/c d")}},
		{"two fragments", `{"capability_type":"api","endpoint":{"url":"https://a.b/#c#d"}}`, nil, []errcode.Violation{badURI("https://a.b/#c#d")}},
		{"brackets in the path", `{"capability_type":"api","endpoint":{"url":"https://[::1]/[c]"}}`, nil, []errcode.Violation{badURI("https://[::1]/[c]")}},
		{"bad escape", `{"capability_type":"api","endpoint":{"url":"https://a.b/%zz"}}`, nil, []errcode.Violation{badURI("https://a.b/%zz")}},
		{"long", `{"capability_type":"` + strings.Repeat("é", 200) + `","endpoint":{"url":"https://a.b"}}`, nil, []errcode.Violation{
			{Field: "/capability_type", Expected: enum, Actual: strings.Repeat("é", 128) + "…", Message: "Invalid enum value"},
		}},
		{
			"required", `{"capability_type":"api","id":"","endpoint":{"url":"https://a.b","auth":{"a/b":null}}}`,
			[]string{"/id", "/name", "/name", "/endpoint/url", "/endpoint/auth/a~1b", "/id/deep", ""},
			[]errcode.Violation{
				{Field: "/name", Expected: "a value", Message: "Required field is missing"},
				{Field: "/endpoint/auth/a~1b", Expected: "a value", Message: "Required field is missing"},
				{Field: "/id/deep", Expected: "a value", Message: "Required field is missing"},
			},
		},
		{"required and missing by rule", `{}`, []string{"/endpoint/url", "/capability_type"}, []errcode.Violation{missingType, missingURL}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := typed(t, blueprint.ValidateDescriptor([]byte(tc.descriptor), tc.required...))
			if diff := cmp.Diff(tc.want, e.Violations()); diff != "" {
				t.Error(diff)
			}
			if e.Code() != errcode.InvalidInput || e.Reason() != "validation_error" || e.Retriable() {
				t.Errorf("got %v", e)
			}
		})
	}
}

func TestDescriptorCredentialsAreMasked(t *testing.T) {
	t.Parallel()
	err := blueprint.ValidateDescriptor([]byte(`{"capability_type":"api","endpoint":{"url":"https://bob:hunter2@exa mple.com"}}`))
	if body := string(marshal(t, envelope(t, err))); strings.Contains(body, "hunter2") {
		t.Errorf("sent %s", body)
	}
}
