package blueprint_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/blueprint"
)

var benchErrors = map[string]*errcode.Error{
	"seed": errcode.New(errcode.UpstreamTimeout, "execution_timeout", errcode.Message("Skill execution exceeded the configured timeout"),
		blueprint.Timeout(30*time.Second, 30001*time.Millisecond), errcode.RetryAfter(5*time.Second), blueprint.MaxAttempts(3)),
	"rich": errcode.New(errcode.GuardrailBlocked, "pii", errcode.Message("The answer held personal data."),
		errcode.Guardrail("Personal Data", map[string]any{"score": 0.75}), errcode.Domain("subject-management"),
		errcode.AtNode("check", "business"), errcode.InFlow("intake", "fetch", "parse"), errcode.CorrelationID("0198-abc"),
		errcode.Violations(errcode.Violation{Field: "/answer/0", Expected: "no personal data", Message: "found a name"})),
}

// BenchmarkEncode measures from the error to the bytes; the baseline only encodes the struct.
func BenchmarkEncode(b *testing.B) {
	for _, name := range sortedKeys(benchErrors) {
		e := benchErrors[name]
		env, _ := blueprint.FromError(b.Context(), e, errcode.Builder{})
		data, _ := errcode.Builder{}.Data(e)
		b.Run("baseline=encoding-json/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = json.Marshal(env)
			}
		})
		b.Run("from=data/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = json.Marshal(blueprint.FromData(data))
			}
		})
		b.Run("from=error/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				env, _ := blueprint.FromError(b.Context(), e, errcode.Builder{})
				_, _ = json.Marshal(env)
			}
		})
	}
}

// bare has the shape of the envelope and none of its methods.
type bare struct {
	Error struct {
		Code    string         `json:"code"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
		Retry   *struct {
			SuggestedDelayMS int64 `json:"suggested_delay_ms"`
			MaxAttempts      int   `json:"max_attempts"`
		} `json:"retry"`
	} `json:"error"`
}

// BenchmarkDecode measures from the bytes to the error; the baseline only decodes the struct.
func BenchmarkDecode(b *testing.B) {
	for _, name := range sortedKeys(benchErrors) {
		env, _ := blueprint.FromError(b.Context(), benchErrors[name], errcode.Builder{})
		body, _ := json.Marshal(env)
		b.Run("baseline=encoding-json/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v bare
				_ = json.Unmarshal(body, &v)
			}
		})
		b.Run("to=envelope/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = blueprint.Parse(body)
			}
		})
		b.Run("to=error/case="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				env, _ := blueprint.Parse(body)
				_ = env.Err()
			}
		})
	}
}
