package errcode

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"syscall"

	"github.com/go-playground/validator/v10"
)

// row is one line of the default table. It concerns an error by its concrete type, by its
// identity, by a method of its type or by what probe finds out about the type; match, if set, has
// the last word.
type row struct {
	name string
	// when says which errors the row concerns, for lists; "" when types says it.
	when   string
	types  []reflect.Type
	values []error
	method reflect.Type
	// probe looks at a type, once; it returns the match for errors of that type, nil when the row
	// does not concern them. The match may do what a user's error can make panic.
	probe func(t reflect.Type) matcher
	// class is the answer. An empty reason means that of the error's type.
	class Class
	// answers lists what match and probe can answer; class, if there is no list.
	answers []answer
	// match refines or refuses; nil takes class as it is.
	match matcher
	// carrier marks errors that only say where it happened: anything below them that matches
	// decides first.
	carrier bool
	// connection marks rows below which io.EOF is a lost connection.
	connection bool
	// underConnection restricts the row to what lies below such a row.
	underConnection bool
	// app returns the application error that err is or carries, nil if none; it stands in for
	// class and match.
	app func(err error) *Error
	// bypass marks the author's own error: user rules do not apply to it.
	bypass bool
	// enrich adds to the converted error what this kind of error knows.
	enrich func(err error, e *Error)
}

// matcher tells the class of an error that its row concerns; ok is false for no match.
type matcher func(err error) (c Class, ok bool)

// answer is one of the things a row can say, see [Table.Rows].
type answer struct {
	when  string // what the error tells
	class Class
}

// boundRow is a row together with its match for one error type.
type boundRow struct {
	*row
	match matcher
}

func typesOf(ts ...reflect.Type) []reflect.Type { return ts }

func static(c Code, reason string) Class {
	return Class{Code: c, Reason: reason, Retriable: c.Retriable()}
}

var (
	timeoutType = reflect.TypeFor[timeouter]()
	isType      = reflect.TypeFor[claimer]()
	// nodeErrorType is how a flow's error says in which node it happened.
	nodeErrorType = reflect.TypeFor[nodeError]()
)

type nodeError interface{ ErrorNode() (id, kind string) }

type flowError interface {
	ErrorFlow() (id string, completed []string)
}

// defaultRows is the table. Within one error the first matching row decides; between errors the
// order of the walk does.
var defaultRows = buildRows()

func buildRows() []row {
	return slices.Concat(ownRows(), statusRows(), databaseRows(), systemRows(), protocolRows(), wireRows(), carrierRows())
}

// ownRows are the errors this package defines, and the validator's.
func ownRows() []row {
	return []row{
		{
			name: "application error", types: typesOf(reflect.TypeFor[*Error]()),
			app: asError, bypass: true, answers: carriedAnswer,
		},
		{
			name: "guardrail", types: typesOf(reflect.TypeFor[*GuardrailBlockedError]()),
			class: static(GuardrailBlocked, ""), enrich: enrichGuardrail,
		},
		{
			name: "credentials",
			types: typesOf(reflect.TypeFor[*MissingAPIKeyError](),
				reflect.TypeFor[*RegistryUnauthorizedError]()),
			class: static(AuthRequired, ""),
		},
		{
			name: "validation",
			types: typesOf(reflect.TypeFor[*ConfigValidationError](), reflect.TypeFor[*MissingFieldError](),
				reflect.TypeFor[validator.ValidationErrors](), reflect.TypeFor[*validator.ValidationErrors]()),
			class: static(InvalidInput, ""), enrich: enrichViolations,
		},
		{
			name: "registry lookup", types: typesOf(reflect.TypeFor[*RegistryNotFoundError]()),
			class: static(NotFound, ""),
		},
		{
			name: "registry timeout", types: typesOf(reflect.TypeFor[*RegistryTimeoutError]()),
			class: static(UpstreamTimeout, ""),
		},
		{
			name: "panic", types: typesOf(reflect.TypeFor[*PanicError]()),
			class: static(Internal, "panic"),
		},
		{
			name: "HTTP status", types: typesOf(reflect.TypeFor[*HTTPStatusError]()),
			match: httpClass, answers: httpAnswers(),
		},
		{
			name: "tool loop", types: typesOf(reflect.TypeFor[*MaxToolIterationsError]()),
			class: static(UpstreamUnavailable, "max_tool_iterations_exceeded"),
		},
		{
			name: "agent fault",
			types: typesOf(reflect.TypeFor[*MaxIterationError](), reflect.TypeFor[*MergeStrategyError](),
				reflect.TypeFor[*RoutingError](), reflect.TypeFor[*A2AProtocolError]()),
			class: static(Internal, ""),
		},
	}
}

// systemRows are the errors of the context, the operating system and the network.
func systemRows() []row {
	return []row{
		{
			name: "deadline", values: []error{context.DeadlineExceeded, os.ErrDeadlineExceeded},
			when:  "context.DeadlineExceeded, os.ErrDeadlineExceeded",
			class: static(UpstreamTimeout, "deadline_exceeded"),
		},
		{
			name: "canceled", values: []error{context.Canceled}, when: "context.Canceled",
			class: static(Internal, "context_canceled"),
		},
		{
			name: "errno", types: typesOf(reflect.TypeFor[syscall.Errno](), reflect.TypeFor[*syscall.Errno]()),
			match: errnoClass, answers: errnoAnswers(),
		},
		{
			name: "TLS", probe: tlsShape, when: "errors of crypto/tls and crypto/x509: certificates, alerts, handshakes",
			class: Class{Code: UpstreamUnavailable},
		},
		{
			name: "HTTP scheme", values: []error{http.ErrSchemeMismatch}, when: "http.ErrSchemeMismatch",
			class: Class{Code: UpstreamUnavailable, Reason: "scheme_mismatch"},
		},
		{
			name: "timeout", method: timeoutType, when: "a method Timeout() bool that says true",
			class: static(UpstreamTimeout, "network_timeout"),
			match: func(err error) (Class, bool) {
				return static(UpstreamTimeout, "network_timeout"), isTimeout(err)
			},
		},
		{
			name: "DNS", types: typesOf(reflect.TypeFor[*net.DNSError]()),
			class: static(UpstreamUnavailable, "dns_error"),
		},
		{
			name: "cut short", values: []error{io.ErrUnexpectedEOF, io.ErrClosedPipe},
			when:  "io.ErrUnexpectedEOF, io.ErrClosedPipe",
			class: static(UpstreamUnavailable, "connection_closed"),
		},
		{
			name: "HTTP/2", probe: http2Shape, when: "StreamError, GoAwayError and ConnectionError of net/http and golang.org/x/net/http2",
			class: static(UpstreamUnavailable, "connection_closed"),
		},
		{
			name: "closed connection", values: []error{net.ErrClosed}, when: "net.ErrClosed",
			class: static(UpstreamUnavailable, "connection_closed"),
		},
		{
			name: "closed", values: []error{io.EOF}, underConnection: true,
			when:  "io.EOF below an error of a connection",
			class: static(UpstreamUnavailable, "connection_closed"),
		},
	}
}

// carrierRows come last, though their place among the rows does not matter: any other match
// below a carrier wins.
func carrierRows() []row {
	return []row{
		{
			name: "component",
			types: typesOf(reflect.TypeFor[*ComponentInvokeError](),
				reflect.TypeFor[*ComponentLoadError]()),
			class: static(UpstreamUnavailable, ""), carrier: true,
		},
		{
			name: "network operation", types: typesOf(reflect.TypeFor[*net.OpError]()),
			class: static(UpstreamUnavailable, "network_error"), carrier: true, connection: true,
		},
		{
			name: "URL", types: typesOf(reflect.TypeFor[*url.Error]()),
			class: static(UpstreamUnavailable, "network_error"),
			match: urlClass, carrier: true, connection: true,
		},
		{
			name: "system call", types: typesOf(reflect.TypeFor[*os.SyscallError]()),
			match: func(error) (Class, bool) { return Class{}, false }, carrier: true, answers: []answer{},
		},
	}
}

// sentinels finds the rows with values. Its keys are all comparable, and it is only asked for
// errors of their types.
var sentinels = func() map[error]*row {
	m := make(map[error]*row)
	for i := range defaultRows {
		for _, v := range defaultRows[i].values {
			m[v] = &defaultRows[i]
		}
	}
	return m
}()

// bind returns the row for errors of type t; ok is false when it cannot match them in another way
// than by identity.
func (r *row) bind(t reflect.Type) (bound boundRow, ok bool) {
	if r.probe != nil {
		match := r.probe(t)
		return boundRow{row: r, match: guarded(match)}, match != nil
	}
	return boundRow{row: r, match: r.match}, r.concerns(t)
}

func (r *row) concerns(t reflect.Type) bool {
	if slices.Contains(r.types, t) {
		return true
	}
	if r.method != nil {
		return t.Implements(r.method) && !isCarrierType(t)
	}
	return len(r.values) > 0 && t.Implements(isType)
}

// guarded makes a panic of match no match.
func guarded(match matcher) matcher {
	return func(err error) (c Class, ok bool) {
		defer func() {
			if recover() != nil {
				c, ok = Class{}, false
			}
		}()
		return match(err)
	}
}

// isCarrierType tells the carriers of the standard library, whose Timeout method only repeats
// that of their cause.
func isCarrierType(t reflect.Type) bool {
	return t == reflect.TypeFor[*net.OpError]() || t == reflect.TypeFor[*url.Error]() ||
		t == reflect.TypeFor[*os.SyscallError]() || t == reflect.TypeFor[*fs.PathError]()
}

// decide tells whether err, which the row concerns, matches it, and sets c if so.
func (r boundRow) decide(err error, connection bool, c *Class) bool {
	if r.underConnection && !connection {
		return false
	}
	if len(r.values) > 0 && !r.holds(err) {
		return false
	}
	if r.match == nil {
		*c = r.class
		return true
	}
	class, ok := r.match(err)
	if ok {
		*c = class
	}
	return ok
}

// holds reports whether err is one of the row's values or says that it is. Only types of values
// are compared, which are all comparable.
func (r *row) holds(err error) bool {
	t := reflect.TypeOf(err)
	return slices.ContainsFunc(r.values, func(v error) bool {
		return reflect.TypeOf(v) == t && v == err || claims(err, v) //nolint:errorlint // one step of a walk
	})
}
