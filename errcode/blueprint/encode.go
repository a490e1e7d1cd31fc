package blueprint

import (
	"context"
	"math"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
)

// FromError returns the envelope for any error: the table in ctx ([errcode.TableFrom]) classifies
// it and b makes it public, so nothing private and no secret is in the result. The envelope is
// always complete. The error is for the log, as that of [errcode.Builder.Data].
//
// A question of package hitl has no form here; it gives INTERNAL_ERROR with the reason
// "input_not_supported". A nil err is described as a failure that could not be described.
func FromError(ctx context.Context, err error, b errcode.Builder) (Envelope, error) {
	d, problem := b.Data(convert(ctx, err))
	return FromData(d), problem
}

func convert(ctx context.Context, err error) *errcode.Error {
	if hitl.Find(err) != nil {
		return errcode.New(errcode.Internal, "input_not_supported", errcode.Cause(err),
			errcode.Message("The skill asked for more input, which cannot be given here."))
	}
	return errcode.TableFrom(ctx).Convert(err)
}

// FromData returns the envelope for error data, which must be valid as those of
// [errcode.Builder.Data] are. They share nothing.
func FromData(d errcode.Data) Envelope {
	rest := d.Map()
	f := Failure{Code: codeFor(d.ErrorCode, d.ErrorReason), Message: d.ErrorMessage, Details: map[string]any{}}
	if details, ok := rest["details"].(map[string]any); ok {
		f.Details = details
	}
	delete(rest, "errorMessage")
	delete(rest, "details")
	moveReserved(f.Details, rest)
	moveViolations(f.Details, rest)
	f.Retry = moveRetry(f, d, rest)
	dropEvident(f, d, rest)
	if len(rest) > 0 {
		f.Details[keyApplicationError] = rest
	}
	return Envelope{Error: f}
}

// moveReserved takes the author's details with reserved names out of the way.
func moveReserved(details, rest map[string]any) {
	moved := map[string]any{}
	for _, key := range []string{keyApplicationError, keyViolations} {
		if v, ok := details[key]; ok {
			moved[key] = v
			delete(details, key)
		}
	}
	if len(moved) > 0 {
		rest["details"] = moved
	}
}

// moveViolations lists the violations in the shape of BLUEPRINT 9.4: all four members, always.
func moveViolations(details, rest map[string]any) {
	list, ok := rest["violations"].([]any)
	if !ok {
		return
	}
	delete(rest, "violations")
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		for key, absent := range map[string]any{"expected": "", "actual": nil, "message": ""} {
			if _, ok := m[key]; !ok {
				m[key] = absent
			}
		}
	}
	details[keyViolations] = list
}

// moveRetry makes the advice about retries: none where retries are out of the question anyway, and
// no attempts where the code alone would suggest some.
func moveRetry(f Failure, d errcode.Data, rest map[string]any) *Retry {
	if f.Code.Never() {
		return nil
	}
	var r Retry
	if !d.Retriable {
		if f.retriable() {
			return &r
		}
		return nil
	}
	if d.RetryAfterMs != nil && *d.RetryAfterMs > 0 {
		r.SuggestedDelayMS = *d.RetryAfterMs
		delete(rest, "retryAfterMs")
	}
	if n, ok := f.Details[keyMaxAttempts].(float64); ok && n >= 1 && n <= math.MaxInt32 && n == math.Trunc(n) {
		r.MaxAttempts = int(n)
		delete(f.Details, keyMaxAttempts)
	}
	if !r.suggests() {
		return nil
	}
	return &r
}

// dropEvident removes from rest what the envelope says already.
func dropEvident(f Failure, d errcode.Data, rest map[string]any) {
	if r := f.Code.row(); r != nil && r.ours == d.ErrorCode {
		delete(rest, "errorCode")
	}
	if f.Code.reason() == d.ErrorReason {
		delete(rest, "errorReason")
	}
	if f.retriable() == d.Retriable {
		delete(rest, "retriable")
	}
}
