package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// faults are what is wrong with a call's arguments, in words for the model.
type faults struct{ missing, invalid, unknown []string }

// maxFaults is how many faults of one kind are told.
const maxFaults = 10

// text gives all of it in one line.
func (f faults) text() string {
	var parts []string
	for _, p := range []struct {
		title string
		items []string
	}{
		{"Missing required argument", f.missing}, {"Invalid argument", f.invalid}, {"Unknown argument", f.unknown},
	} {
		if len(p.items) == 0 {
			continue
		}
		slices.Sort(p.items) // the order in which a schema is walked is random
		items := slices.Compact(p.items)
		if more := len(items) - maxFaults; more > 0 {
			items = append(items[:maxFaults:maxFaults], fmt.Sprintf("and %d more", more))
		}
		parts = append(parts, p.title+": "+strings.Join(items, ", "))
	}
	if len(parts) == 0 {
		return "The arguments do not fit the tool's schema."
	}
	return line(strings.Join(parts, "; "))
}

// faultText says what a validation found.
func faultText(err error) string {
	var f faults
	var v *jsonschema.ValidationError
	if errors.As(err, &v) {
		f.collect(v)
	}
	return f.text()
}

var english = message.NewPrinter(language.English)

func (f *faults) collect(v *jsonschema.ValidationError) {
	switch k := v.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			f.missing = append(f.missing, dotted(v.InstanceLocation, name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			f.unknown = append(f.unknown, dotted(v.InstanceLocation, name))
		}
	case *kind.Type:
		f.mistyped(v.InstanceLocation, k.Want, k.Got)
	case *kind.AnyOf, *kind.OneOf:
		f.alternatives(v)
	default:
		if len(v.Causes) == 0 {
			f.add(v.InstanceLocation, v.ErrorKind.LocalizedString(english))
		}
		for _, c := range v.Causes {
			f.collect(c)
		}
	}
}

// maxExponent is a little more than that of any float64.
const maxExponent = 400

// numbers finds those that are not for the validator, which calculates with all
// their digits: it takes long for some, and panics for larger ones.
func (f *faults) numbers(v any, at []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			f.numbers(member, append(at, name)) // no path is kept
		}
	case []any:
		for i, member := range v {
			f.numbers(member, append(at, strconv.Itoa(i)))
		}
	case json.Number:
		i := strings.IndexAny(v.String(), "eE")
		if i < 0 {
			return
		}
		if exp, err := strconv.Atoi(v.String()[i+1:]); err != nil || max(exp, -exp) > maxExponent {
			f.add(at, "number out of range")
		}
	}
}

// alternatives are told as one type where all of them ask for types, which is
// how optional arguments are commonly described.
func (f *faults) alternatives(v *jsonschema.ValidationError) {
	var want []string
	got := ""
	for _, c := range v.Causes {
		for len(c.Causes) == 1 { // references
			c = c.Causes[0]
		}
		k, ok := c.ErrorKind.(*kind.Type)
		if !ok || len(c.InstanceLocation) != len(v.InstanceLocation) {
			f.add(v.InstanceLocation, "fits none of the allowed forms")
			return
		}
		want, got = append(want, k.Want...), k.Got
	}
	f.mistyped(v.InstanceLocation, want, got)
}

func (f *faults) mistyped(at, want []string, got string) {
	want = slices.DeleteFunc(slices.Clone(want), func(t string) bool { return t == "null" })
	f.add(at, fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), got))
}

func (f *faults) add(at []string, what string) {
	f.invalid = append(f.invalid, dotted(at)+" ("+what+")")
}

// maxName is how much of an argument's name is repeated; the model made it.
const maxName = 80

func dotted(at []string, name ...string) string {
	path := slices.Concat(at, name)
	if len(path) == 0 {
		return "the object"
	}
	return cutRune(strings.Join(path, "."), maxName)
}

// inputFault says, of an error of code INVALID_INPUT that a tool returned, what
// the model needs to know to do better.
func inputFault(e *errcode.Error) string {
	var f faults
	_, missing := errtree.As[*errcode.MissingFieldError](e)
	for _, v := range e.Violations() {
		name := strings.ReplaceAll(strings.TrimPrefix(v.Field, "/"), "/", ".")
		switch {
		case name == "":
			f.invalid = append(f.invalid, violated(v))
		case missing || v.Expected == "required":
			f.missing = append(f.missing, name)
		default:
			f.invalid = append(f.invalid, name+" ("+violated(v)+")")
		}
	}
	if len(f.missing)+len(f.invalid) == 0 {
		return line(e.Message())
	}
	return f.text()
}

func violated(v errcode.Violation) string {
	if v.Expected != "" {
		return "expected " + v.Expected
	}
	return v.Message
}
