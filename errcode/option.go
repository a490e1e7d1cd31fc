package errcode

import (
	"maps"
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// Option sets one thing of an [Error]. Options are applied in order, so a later one wins. A nil
// Option does nothing. Values are copied when the option is applied.
type Option interface{ apply(*Error) }

type optionFunc func(*Error)

func (f optionFunc) apply(e *Error) { f(e) }

// Message sets the public message. It is sent to clients, after credentials in it were masked.
// Default, and "": the text of the code, see [Code.Text].
func Message(text string) Option {
	return optionFunc(func(e *Error) { e.message, e.authored = text, text != "" })
}

// Cause sets the private cause: errors.Is and errors.As find it, the log shows it, clients never
// see it. Default: none.
func Cause(err error) Option {
	return optionFunc(func(e *Error) { e.cause = err })
}

// Retriable says whether the same request may succeed later. Default: [Code.Retriable].
func Retriable(yes bool) Option {
	return optionFunc(func(e *Error) { e.retriable, e.retriableSet = yes, true })
}

// RetryAfter tells clients how long to wait. On the wire it is whole milliseconds, rounded up;
// zero means at once, a negative duration is invalid. Default: unset, clients back off on their
// own.
func RetryAfter(d time.Duration) Option {
	return optionFunc(func(e *Error) { e.retryAfter, e.hasRetryAfter = d, true })
}

// Retried tells how many retries the server already made. Default 0; negative is invalid.
func Retried(n int) Option {
	return optionFunc(func(e *Error) { e.retried = n })
}

// Source tells where the failure happened, as system:locator, for example
// "mcp:MCP-001/check_account_owner"; see [ValidSource] for the rules. Default: none.
func Source(s string) Option {
	return optionFunc(func(e *Error) { e.source = s })
}

// Via says that the failure was passed on by what is at source, such as another agent, which may
// have had it from elsewhere: the error's source so far, and its place in a flow that is not ours,
// move into the details, under "origin", unless an earlier Via has put them there.
func Via(source string) Option {
	return optionFunc(func(e *Error) {
		origin := map[string]any{}
		if e.source != "" {
			origin["source"] = e.source
		}
		if e.hasNode {
			origin["node"] = e.node.plain()
		}
		if e.hasFlow {
			origin["flow"] = e.flow.plain()
		}
		if _, known := e.details["origin"]; !known && len(origin) > 0 && e.source != source {
			e.addDetails(map[string]any{"origin": origin})
		}
		e.source, e.hasNode, e.hasFlow = source, false, false
		e.node, e.flow = Node{}, Flow{}
	})
}

// Domain names the agent the error belongs to, in kebab-case ASCII; see [ValidDomain]. Default:
// the domain of the [Builder].
func Domain(s string) Option {
	return optionFunc(func(e *Error) { e.domain = s })
}

// DomainCode sets the organisation's own code for the failure, such as DOC_005. Default: none.
func DomainCode(s string) Option {
	return optionFunc(func(e *Error) { e.domainCode = s })
}

// AtNode names the flow node that failed. Flows set it themselves.
func AtNode(id, kind string) Option {
	return optionFunc(func(e *Error) { e.node, e.hasNode = Node{ID: id, Kind: kind}, true })
}

// InFlow names the flow and the nodes that were completed, in order; a repeated id counts once.
// Flows set it themselves.
func InFlow(id string, completed ...string) Option {
	once := make([]string, 0, len(completed))
	for _, c := range completed {
		if !slices.Contains(once, c) {
			once = append(once, c)
		}
	}
	return optionFunc(func(e *Error) { e.flow, e.hasFlow = Flow{ID: id, CompletedNodes: once}, true })
}

// Guardrail attaches the data of a policy violation: fields plus violationCategory, which is what
// a UI shows. It also sets the source to "guardrail:" and the category in kebab-case, unless
// [Source] is used. Only errors with [GuardrailBlocked] may carry it.
func Guardrail(category string, fields map[string]any) Option {
	return optionFunc(func(e *Error) {
		m, dropped := plain.Map(fields)
		if m == nil {
			m = make(map[string]any, 1)
		}
		m["violationCategory"] = validText(category)
		e.guardrail = m
		e.drop("/guardrail", dropped)
		if e.source == "" {
			e.source = guardrailSource(category)
		}
	})
}

func guardrailSource(category string) string {
	slug := DomainFrom(Redact(category)) // in kebab-case nothing looks like a secret
	if slug == "" {
		slug = "policy"
	}
	return "guardrail:" + slug
}

// Violations lists what is wrong with the input, replacing an earlier list. It goes with
// [InvalidInput]. Default: none.
func Violations(vs ...Violation) Option {
	return optionFunc(func(e *Error) {
		c := slices.Clone(vs)
		for i := range c {
			var dropped []string
			c[i].Actual, dropped = plain.Value(c[i].Actual)
			e.drop("/violations", dropped)
		}
		e.violations = c
	})
}

// Detail adds one entry to the details, as plain JSON types: numbers become float64, structs
// become maps. What JSON cannot express is left out and reported by [Builder.Data]. A key that
// names a secret has its value masked on the wire.
func Detail(key string, value any) Option {
	return optionFunc(func(e *Error) { e.addDetails(map[string]any{key: value}) })
}

// Details adds the entries of m to the details, see [Detail].
func Details(m map[string]any) Option {
	return optionFunc(func(e *Error) { e.addDetails(m) })
}

func (e *Error) addDetails(m map[string]any) {
	if len(m) == 0 {
		return
	}
	add, dropped := plain.Map(m)
	e.drop("/details", dropped)
	if len(e.details) > 0 {
		merged := maps.Clone(e.details)
		maps.Copy(merged, add)
		add = merged
	}
	if len(add) > 0 {
		e.details = add
	}
}

// CorrelationID joins the error a client sees with the log: printable ASCII without blanks, at most
// 256 bytes. Anything else, or what [Redact] takes for a secret, counts as none, and
// [Builder.Data] reports it. Default: none; the executor sets one for each failure.
func CorrelationID(id string) Option {
	return optionFunc(func(e *Error) {
		if !validCorrelation(id) || Redact(id) != id {
			id = ""
			e.drop("", []string{noCorrelation})
		}
		e.correlationID = id
	})
}

// noCorrelation reports a correlation id that is none. Its text may be a secret.
const noCorrelation = "/correlationId: not an id"

// drop notes what was lost below prefix. It never writes into a slice that a copy of e shares.
func (e *Error) drop(prefix string, lost []string) {
	for _, l := range lost {
		e.dropped = append(slices.Clip(e.dropped), prefix+l)
	}
}
