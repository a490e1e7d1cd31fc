package errcode

import (
	"errors"
	"fmt"
	"math"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// ParseData decodes the value of a data part: a map, or anything that encodes to a JSON object.
// Every fault in it is reported, each with the field and what was expected. What is lenient:
// unknown fields are ignored, since the schema may grow, null counts as absent, a missing message
// or retriable flag gets the default of the code, a delay too large to count is the largest. Raw
// JSON of more than [MaxData] bytes is refused before it is read.
//
// To read a failure that may come from another implementation, use [FromTask] and its siblings,
// which make the best of faulty data.
func ParseData(v any) (Data, error) {
	m, ok := toObject(v)
	if !ok {
		return Data{}, errors.New("errcode: error data: expected an object, as raw JSON of at most 1 MiB")
	}
	r := reader{m: m}
	d := r.data()
	if faults := append(r.faults, d.faults(r.bad)...); len(faults) > 0 {
		return Data{}, fmt.Errorf("errcode: error data: %w", errors.Join(faults...))
	}
	return d, nil
}

// MaxData is the size, in bytes, of the largest raw JSON that is read, all pieces in a value together.
const MaxData = 1 << 20

// toObject returns v as a plain object. Text and bytes are no objects, and cost nothing.
func toObject(v any) (map[string]any, bool) {
	switch v.(type) {
	case []byte, string, nil:
		return nil, false
	}
	if !fits(v) {
		return nil, false
	}
	out, _ := plain.Value(v)
	m, ok := out.(map[string]any)
	return m, ok
}

// data reads what it can from a plain object; each field it cannot read is left out and
// adds a fault. It does not check values against the rules of their fields, except that numbers
// must fit.
func (r *reader) data() Data {
	var d Data
	d.ErrorCode = Code(r.text("errorCode"))
	d.ErrorReason = r.text("errorReason")
	d.ErrorMessage = r.text("errorMessage")
	if d.ErrorMessage == "" {
		d.ErrorMessage = d.ErrorCode.Text()
	}
	d.Retriable = r.flag("retriable", d.ErrorCode.Retriable())
	if n, ok := r.count("retried", math.MaxInt32); ok {
		d.Retried = int(n)
	}
	if ms, ok := r.millis("retryAfterMs"); ok {
		d.RetryAfterMs = &ms
	}
	d.ErrorSource = r.text("errorSource")
	d.Domain = r.text("domain")
	d.DomainCode = r.text("domainCode")
	d.CorrelationID = r.text("correlationId")
	d.Guardrail = r.object("guardrail")
	d.Details = r.object("details")
	d.Node = r.node()
	d.Flow = r.flow()
	d.Violations = r.violations()
	return d
}

// reader takes typed fields out of a plain object and collects what is wrong with them.
type reader struct {
	m      map[string]any
	prefix string
	faults []error
	bad    map[string]bool // the keys with a fault
}

func (r *reader) fault(key, expected string, got any) {
	if r.bad == nil {
		r.bad = make(map[string]bool)
	}
	r.bad[key] = true
	r.faults = append(r.faults, fmt.Errorf("%s%s: expected %s, got %s", r.prefix, key, expected, kindOf(got)))
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case float64, int64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

func (r *reader) text(key string) string {
	v := r.m[key]
	s, ok := v.(string)
	if !ok && v != nil {
		r.fault(key, "a string", v)
	}
	return s
}

func (r *reader) flag(key string, absent bool) bool {
	switch v := r.m[key].(type) {
	case bool:
		return v
	case nil:
		return absent
	default:
		r.fault(key, "a boolean", v)
		return absent
	}
}

// count reads an integer from 0 to most.
func (r *reader) count(key string, most int64) (n int64, ok bool) {
	switch v := r.m[key].(type) {
	case nil:
		return 0, false
	case int64:
		n, ok = v, true
	case float64:
		// The comparison keeps the conversion within int64.
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			n, ok = int64(v), true
		}
	}
	if !ok || n < 0 || n > most {
		r.fault(key, "an integer not below 0", r.m[key])
		return 0, false
	}
	return n, true
}

// millis reads a delay in milliseconds: an integer from 0. One that is too large to count becomes the
// largest.
func (r *reader) millis(key string) (ms int64, ok bool) {
	if f, is := r.m[key].(float64); is && f >= 1<<63 {
		return math.MaxInt64, true
	}
	return r.count(key, math.MaxInt64)
}

// object reads a non-empty object; an empty one says nothing and counts as absent.
func (r *reader) object(key string) map[string]any {
	v := r.m[key]
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		r.fault(key, "an object", v)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

func (r *reader) inner(key string, m map[string]any) *reader {
	return &reader{m: m, prefix: r.prefix + key + "."}
}

func (r *reader) node() *Node {
	m := r.object("node")
	if m == nil {
		return nil
	}
	in := r.inner("node", m)
	n := &Node{ID: in.text("id"), Kind: in.text("kind")}
	r.faults = append(r.faults, in.faults...)
	return n
}

func (r *reader) flow() *Flow {
	m := r.object("flow")
	if m == nil {
		return nil
	}
	in := r.inner("flow", m)
	f := &Flow{ID: in.text("id")}
	if list := in.list("completedNodes"); list != nil {
		f.CompletedNodes = make([]string, 0, len(list))
		for i, v := range list {
			id, ok := v.(string)
			if !ok {
				in.fault(fmt.Sprintf("completedNodes[%d]", i), "a string", v)
				continue
			}
			f.CompletedNodes = append(f.CompletedNodes, id)
		}
	}
	r.faults = append(r.faults, in.faults...)
	return f
}

func (r *reader) list(key string) []any {
	v := r.m[key]
	l, ok := v.([]any)
	if !ok && v != nil {
		r.fault(key, "an array", v)
	}
	return l
}

func (r *reader) violations() []Violation {
	list := r.list("violations")
	if len(list) == 0 {
		return nil
	}
	vs := make([]Violation, 0, len(list))
	for i, v := range list {
		key := fmt.Sprintf("violations[%d]", i)
		m, ok := v.(map[string]any)
		if !ok {
			r.fault(key, "an object", v)
			continue
		}
		in := r.inner(key, m)
		vs = append(vs, Violation{
			Field: in.text("field"), Expected: in.text("expected"),
			Actual: m["actual"], Message: in.text("message"),
		})
		r.faults = append(r.faults, in.faults...)
	}
	if len(vs) == 0 {
		return nil
	}
	return vs
}

// salvage makes data that may break the rules of their fields fit to become an [Error] which can
// be sent on: what is invalid is left out.
func (d Data) salvage() Data {
	if !validReason(d.ErrorReason) {
		d.ErrorReason = reasonRemote
	}
	if d.ErrorSource != "" && !ValidSource(d.ErrorSource) {
		d.ErrorSource = ""
	}
	if d.Domain != "" && !ValidDomain(d.Domain) {
		d.Domain = ""
	}
	if !validCorrelation(d.CorrelationID) {
		d.CorrelationID = ""
	}
	if d.ErrorCode != GuardrailBlocked {
		d.Guardrail = nil
	}
	return d
}

func notASCII(r rune) bool { return r > 0x7f }
