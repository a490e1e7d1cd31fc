package blueprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// MaxBody is the size, in bytes, of the largest envelope and the largest descriptor that is read.
const MaxBody = 1 << 20

// reasonEnvelope is the reason of what is no envelope.
const reasonEnvelope = "invalid_error_envelope"

// Parse reads an envelope. Required is only what a failure cannot do without: an object with the
// member error, an object with a code that is a string. Everything else is read leniently: a
// message or an advice of another type counts as absent, details of another type become
// {"value": …}, other members are ignored. The numbers of an advice may be texts or have fractions;
// what is too large to count is the largest number.
//
// The error for anything else, and for more than [MaxBody] bytes, is an [*errcode.Error] with
// INTERNAL_ERROR and the reason "invalid_error_envelope".
func Parse(body []byte) (Envelope, error) {
	f, err := parseFailure(body)
	if err != nil {
		return Envelope{}, errcode.New(errcode.Internal, reasonEnvelope, errcode.Cause(err),
			errcode.Message("The answer is not a BLUEPRINT error envelope."))
	}
	return Envelope{Error: f}, nil
}

// UnmarshalJSON does what [Parse] does.
func (e *Envelope) UnmarshalJSON(body []byte) error {
	parsed, err := Parse(body)
	if err != nil {
		return err
	}
	*e = parsed
	return nil
}

func parseFailure(body []byte) (Failure, error) {
	root, err := parseJSON(body)
	if err != nil {
		return Failure{}, err
	}
	top, _ := root.(map[string]any)
	m, ok := top["error"].(map[string]any)
	if !ok {
		return Failure{}, errors.New("read envelope: expected an object in error")
	}
	code, ok := m["code"].(string)
	if !ok || code == "" {
		return Failure{}, errors.New("read envelope: expected a code that is a string")
	}
	f := Failure{Code: Code(code), Details: detailsOf(m["details"]), Retry: retryOf(m["retry"])}
	f.Message, _ = m["message"].(string)
	return f, nil
}

func detailsOf(v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return map[string]any{}
	case map[string]any:
		return v
	default:
		return map[string]any{"value": v}
	}
}

func retryOf(v any) *Retry {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	return &Retry{
		SuggestedDelayMS: count(m["suggested_delay_ms"], math.Ceil, math.MaxInt64),
		MaxAttempts:      int(count(m["max_attempts"], math.Floor, math.MaxInt32)),
	}
}

// count reads a number, which may be a text, have a fraction or be too large: it is rounded, and at
// most most. What is no number, or a negative one, is 0.
func count(v any, round func(float64) float64, most int64) int64 {
	var f float64
	switch v := v.(type) {
	case int64:
		return min(max(0, v), most)
	case float64:
		f = v
	case string:
		f, _ = strconv.ParseFloat(strings.TrimSpace(v), 64) // +Inf if it is out of range
	}
	switch f = round(f); {
	case !(f > 0):
		return 0
	case f >= float64(most):
		return most
	default:
		return int64(f)
	}
}

// parseJSON reads one JSON value of at most MaxBody bytes as plain types.
func parseJSON(body []byte) (any, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("read JSON: %d bytes are more than %d", len(body), MaxBody)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read JSON: more than one value")
	}
	return plainNumbers(v), nil
}

// plainNumbers replaces number literals, in place.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, lost := plain.Value(v)
		if lost != nil { // no number type holds it, but a text does
			return v.String()
		}
		return n
	case map[string]any:
		for key, x := range v {
			v[key] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	}
	return v
}
