package errcode

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
)

// typeInfo is what classification knows about a concrete error type. It is computed once.
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
	rows []*row
}

// plain reports whether no row can match errors of the type.
func (t *typeInfo) plain() bool { return len(t.rows) == 0 && !t.sentinel && !t.node }

// isNil reports whether err, of this type, is a nil pointer in an error interface.
func (t *typeInfo) isNil(err error) bool {
	return t.pointer && reflect.ValueOf(err).IsNil()
}

// typeInfos maps a reflect.Type to its *typeInfo. It grows with the error types of the program,
// a finite set.
var typeInfos sync.Map

// recent is a small cache in front of typeInfos, indexed by the address of the type.
var recent [256]atomic.Pointer[typeInfo]

// infoOf returns what is known about the type of err. Chains tend to repeat one wrapper, so last,
// which may be nil, is tried first.
func infoOf(err error, last *typeInfo) *typeInfo {
	t := reflect.TypeOf(err)
	if last != nil && last.typ == t {
		return last
	}
	slot := &recent[reflect.ValueOf(t).Pointer()>>5%uintptr(len(recent))]
	if info := slot.Load(); info != nil && info.typ == t {
		return info
	}
	info := storedInfo(t)
	slot.Store(info)
	return info
}

func storedInfo(t reflect.Type) *typeInfo {
	if v, ok := typeInfos.Load(t); ok {
		if info, ok := v.(*typeInfo); ok {
			return info
		}
	}
	info := newTypeInfo(t)
	typeInfos.Store(t, info)
	return info
}

var (
	singleUnwrapperType = reflect.TypeFor[singleUnwrapper]()
	listUnwrapperType   = reflect.TypeFor[listUnwrapper]()
)

func newTypeInfo(t reflect.Type) *typeInfo {
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
		if defaultRows[i].concerns(t) {
			info.rows = append(info.rows, &defaultRows[i])
		}
		for _, v := range defaultRows[i].values {
			info.sentinel = info.sentinel || reflect.TypeOf(v) == t
		}
	}
	info.wrapper = info.plain() && info.reason == "" && info.unwrap == unwrapOne
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
		pkg, _, _ := strings.Cut(t.String(), ".")
		reason = snakeCase(pkg + "_error")
	}
	return reason
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
