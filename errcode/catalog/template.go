package catalog

import (
	"errors"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/errcode"
)

// template is a text cut at its placeholders.
type template []piece

// piece is literal text, or the placeholder with that name.
type piece struct{ literal, name string }

// parseTemplate cuts a text at its placeholders. A brace is doubled to stand for itself.
func parseTemplate(s string) (template, error) {
	var tpl template
	var literal strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			break
		}
		literal.WriteString(s[:i])
		if rest := s[i:]; strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}") {
			literal.WriteByte(rest[0])
			s = rest[2:]
			continue
		}
		name, rest, closed := strings.Cut(s[i+1:], "}")
		if s[i] == '}' || !closed || !validParam(name) {
			return nil, errors.New("write {name} for a placeholder and {{ or }} for a brace")
		}
		tpl = append(tpl, piece{literal: literal.String()}, piece{name: name})
		literal.Reset()
		s = rest
	}
	literal.WriteString(s)
	return append(tpl, piece{literal: literal.String()}), nil
}

// validParam reports whether s is a name: ASCII letters, digits and underscores, a letter first.
func validParam(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// names returns the placeholders, each once.
func (t template) names() []string {
	var names []string
	for _, p := range t {
		if p.name != "" && !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

// render fills the placeholders; one without an argument stays as it was written.
func (t template) render(opts []errcode.Option) string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.literal)
		if p.name != "" {
			b.WriteString(lookup(p.name, opts))
		}
	}
	return b.String()
}

// lookup finds the last argument with that name.
func lookup(name string, opts []errcode.Option) string {
	for _, o := range slices.Backward(opts) {
		if a, ok := o.(arg); ok && a.name == name {
			return a.value
		}
	}
	return "{" + name + "}"
}

// arg is an option that changes nothing by itself; embedding an option is what makes it one.
type arg struct {
	errcode.Option
	name, value string
}

// Arg fills the placeholder {name} of a title. The value is public: it is sent to clients, after
// credentials in it were masked. A name that the title does not have is ignored, a placeholder
// without an Arg stays in the text as it was written; [Entry.Params] tells what a title needs. Of
// several with the same name the last counts. It has no effect outside a catalogue.
func Arg(name, value string) errcode.Option {
	return arg{Option: errcode.Details(nil), name: name, value: value}
}
