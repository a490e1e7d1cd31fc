package errcode

import (
	"reflect"
	"strings"
)

// typeInfo is what a table knows about a concrete error type. It is computed once.
type typeInfo struct {
	typ     reflect.Type
	unwrap  unwrapKind
	pointer bool
	node    bool // it names a flow node
	// reason is the snake_case of the type's name, "" when the name says nothing.
	reason string
	// sentinel is set when a value of the table has this type.
	sentinel bool
	// wrapper is set when errors of the type say nothing but what they wrap.
	wrapper bool
	// rows are the other table rows that can match this type, in table order.
	rows []boundRow
	// rules are the user rules that can match this type, nil when none can.
	rules *typeRules
}

// plain reports whether no row can match errors of the type.
func (t *typeInfo) plain() bool { return len(t.rows) == 0 && !t.sentinel && !t.node }

// isNil reports whether err, of this type, is a nil pointer in an error interface.
func (t *typeInfo) isNil(err error) bool {
	return t.pointer && reflect.ValueOf(err).IsNil()
}

var (
	singleUnwrapperType = reflect.TypeFor[singleUnwrapper]()
	listUnwrapperType   = reflect.TypeFor[listUnwrapper]()
)

func newTypeInfo(t reflect.Type, rules []Rule) *typeInfo {
	info := &typeInfo{
		typ:     t,
		pointer: t.Kind() == reflect.Pointer,
		node:    t.Implements(nodeErrorType),
		reason:  typeReason(t),
	}
	switch {
	case t.Implements(singleUnwrapperType):
		info.unwrap = unwrapOne
	case t.Implements(listUnwrapperType):
		info.unwrap = unwrapMany
	}
	for i := range defaultRows {
		if bound, ok := defaultRows[i].bind(t); ok {
			info.rows = append(info.rows, bound)
		}
		for _, v := range defaultRows[i].values {
			info.sentinel = info.sentinel || reflect.TypeOf(v) == t
		}
	}
	info.rules = rulesFor(t, rules)
	info.wrapper = info.plain() && info.rules == nil && info.reason == "" && info.unwrap == unwrapOne
	return info
}

// reasonInternal is the reason of an error whose tree names no type.
const reasonInternal = "internal_error"

// wrapperPackages hold error types whose names only tell how the error was made.
var wrapperPackages = map[string]bool{
	"errors":                true,
	"fmt":                   true,
	"golang.org/x/xerrors":  true,
	"github.com/pkg/errors": true,
}

// typeReason derives a reason from a type's name; "" if the name is of no use.
func typeReason(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" || wrapperPackages[t.PkgPath()] || t.Implements(nodeErrorType) ||
		reflect.PointerTo(t).Implements(nodeErrorType) {
		return ""
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	reason := snakeCase(name)
	if reason == "error" {
		reason = snakeCase(packageName(t) + "_error")
	}
	return reason
}

// packageName is the name of the package that defines t, as its users know it: an internal package
// stands for the one it belongs to, whose name is made of the path without "go" and "sdk".
func packageName(t reflect.Type) string {
	outer, _, internal := strings.Cut(t.PkgPath(), "/internal/")
	if !internal {
		name, _, _ := strings.Cut(t.String(), ".")
		return name
	}
	segments := strings.Split(outer, "/")
	name := segments[len(segments)-1]
	if len(segments) > 1 && isMajor(name) {
		name = segments[len(segments)-2]
	}
	for _, affix := range []string{"-go", "-sdk"} {
		name = strings.TrimSuffix(name, affix)
	}
	return strings.TrimPrefix(name, "go-")
}

// isMajor reports whether a path segment is the major version of a module, such as v3.
func isMajor(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && isDigit(segment[1])
}

// snakeCase turns a Go name into snake_case ASCII and keeps acronyms together. Other characters
// than ASCII letters and digits separate words.
func snakeCase(name string) string {
	var b strings.Builder
	at := func(i int) byte {
		if i < 0 || i >= len(name) {
			return 0
		}
		return name[i]
	}
	gap := false // a separator is due before the next letter
	for i := range len(name) {
		c := name[i]
		if !isLower(c) && !isUpper(c) && !isDigit(c) {
			gap = true
			continue
		}
		prev := at(i - 1)
		if isUpper(c) && (isLower(prev) || (isUpper(prev) || isDigit(prev)) && isLower(at(i+1))) {
			gap = true
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		if isUpper(c) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
