package errtree_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/internal/errtree"
)

// node is an error tree as a test wants it.
type node struct {
	text string
	next error
}

func (n node) Error() string { return n.text }
func (n node) Unwrap() error { return n.next }

type branch struct {
	text string
	next []error
}

func (b *branch) Error() string   { return b.text }
func (b *branch) Unwrap() []error { return b.next }

type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

type bush struct{}

func (b *bush) Error() string   { return "bush" }
func (b *bush) Unwrap() []error { return []error{b, b} }

// grower wraps a new error each time it is asked.
type grower int

func (g grower) Error() string { return fmt.Sprint("grower ", int(g)) }
func (g grower) Unwrap() error { return g + 1 }

type panicError struct{}

func (panicError) Error() string { panic("Error panics") }
func (panicError) Unwrap() error { panic("Unwrap panics") }

// rudeError panics with a value that panics when it is printed, and again when
// that is.
type rudeError struct{}

func (rudeError) Error() string  { panic(rudeError{}) }
func (rudeError) String() string { panic(rudeError{}) }

type manyPanicError struct{ list []int }

func (manyPanicError) Error() string   { return "hostile" }
func (manyPanicError) Unwrap() []error { panic("Unwrap panics") }

type pointer struct{ next error }

func (p *pointer) Error() string { return p.next.Error() }
func (p *pointer) Unwrap() error { return p.next }

func visited(err error) []string {
	out := []string{}
	errtree.Walk(err, func(e error) bool {
		out = append(out, errtree.Text(e))
		return true
	})
	return out
}

func leaf(text string) error { return node{text: text} }

func TestWalkOrder(t *testing.T) {
	t.Parallel()
	var typedNil *pointer
	cases := []struct {
		name string
		err  error
		want []string
	}{
		{"nil", nil, []string{}},
		{"one", leaf("a"), []string{"a"}},
		{"chain", node{"a", node{"b", leaf("c")}}, []string{"a", "b", "c"}},
		{
			"depth first, outermost first",
			&branch{"root", []error{node{"a", leaf("a1")}, &branch{"b", []error{leaf("b1"), leaf("b2")}}, leaf("c")}},
			[]string{"root", "a", "a1", "b", "b1", "b2", "c"},
		},
		{"nils among the branches", &branch{"root", []error{nil, leaf("a"), nil}}, []string{"root", "a"}},
		{"no branches", &branch{text: "root"}, []string{"root"}},
		{"fmt and errors", fmt.Errorf("x: %w", errors.Join(io.EOF, leaf("a"))), []string{"x: EOF\na", "EOF\na", "EOF", "a"}},
		{"typed nil", typedNil, []string{""}},
		{"panicking methods", &branch{"root", []error{panicError{}, manyPanicError{[]int{1}}, leaf("a")}}, []string{"root", "", "hostile", "a"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, visited(tc.err)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWalkStops(t *testing.T) {
	t.Parallel()
	err := &branch{"root", []error{node{"a", leaf("a1")}, leaf("b")}}
	for stop, want := range map[string][]string{
		"root": {"root"}, "a": {"root", "a"}, "a1": {"root", "a", "a1"}, "b": {"root", "a", "a1", "b"},
	} {
		got := []string{}
		errtree.Walk(err, func(e error) bool {
			got = append(got, e.Error())
			return e.Error() != stop
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stop at %s (-want +got):\n%s", stop, diff)
		}
	}
}

func TestWalkIsBounded(t *testing.T) {
	t.Parallel()
	wide := &branch{"wide", make([]error, errtree.MaxNodes*2)}
	for i := range wide.next {
		wide.next[i] = io.EOF
	}
	cases := []struct {
		name string
		err  error
	}{
		{"unwraps to itself", &loop{}},
		{"unwraps to itself twice", &bush{}},
		{"never ends", grower(0)},
		{"wide", wide},
		{"two that never end", errors.Join(grower(0), &bush{})},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			errtree.Walk(tc.err, func(error) bool { n++; return true })
			if n != errtree.MaxNodes {
				t.Errorf("visited %d, want %d", n, errtree.MaxNodes)
			}
		})
	}
}

// A finite tree is visited as its definition says.
func TestWalkVisitsEveryNode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		err := tree(t, 4, &want)
		if diff := cmp.Diff(want, visited(err)); diff != "" {
			t.Fatalf("order (-want +got):\n%s", diff)
		}
	})
}

func tree(t *rapid.T, depth int, order *[]string) error {
	text := fmt.Sprint("n", len(*order))
	*order = append(*order, text)
	switch shape := rapid.SampledFrom([]string{"leaf", "chain", "branch"}).Draw(t, "shape"); {
	case shape == "leaf" || depth == 0:
		return leaf(text)
	case shape == "chain":
		return node{text, tree(t, depth-1, order)}
	}
	b := &branch{text: text}
	for range rapid.IntRange(0, 3).Draw(t, "branches") {
		b.next = append(b.next, tree(t, depth-1, order))
	}
	return b
}

func TestUnwrap(t *testing.T) {
	t.Parallel()
	var typedNil *pointer
	list := []error{io.EOF, nil}
	cases := []struct {
		name string
		err  error
		one  error
		many int
	}{
		{"nil", nil, nil, 0},
		{"wraps nothing", io.EOF, nil, 0},
		{"wraps one", node{"a", io.EOF}, io.EOF, 0},
		{"wraps several", &branch{"a", list}, nil, 2},
		{"panics", panicError{}, nil, 0},
		{"panics with several", manyPanicError{}, nil, 0},
		{"typed nil", typedNil, nil, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			one, many := errtree.Unwrap(tc.err)
			if !errors.Is(one, tc.one) || len(many) != tc.many {
				t.Errorf("got %v and %v, want %v and %d errors", one, many, tc.one, tc.many)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var typedNil *pointer
	for want, err := range map[string]error{"EOF": io.EOF, "a": leaf("a")} {
		if got := errtree.Text(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, err := range []error{nil, panicError{}, typedNil} {
		if got := errtree.Text(err); got != "" {
			t.Errorf("got %q, want none", got)
		}
	}
}

func TestAs(t *testing.T) {
	t.Parallel()
	first, second := &branch{text: "first"}, &branch{text: "second"}
	var typedNil *branch
	cases := []struct {
		name string
		err  error
		want *branch
		ok   bool
	}{
		{"nil", nil, nil, false},
		{"not there", node{"a", io.EOF}, nil, false},
		{"itself", first, first, true},
		{"below", node{"a", first}, first, true},
		{"the first in order", errors.Join(node{"a", first}, second), first, true},
		{"behind one that panics", errors.Join(panicError{}, second), second, true},
		{"a typed nil is of its type", node{"a", typedNil}, nil, true},
		{"in a tree that never ends", &bush{}, nil, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, ok := errtree.As[*branch](tc.err)
			if got != tc.want || ok != tc.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
	if got, ok := errtree.As[interface {
		error
		Unwrap() []error
	}](node{"a", second}); !ok || got.Error() != "second" {
		t.Errorf("by interface: got %v, %v", got, ok)
	}
}

func TestCauses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		err  error
		want []string
	}{
		{"nil", nil, nil},
		{"one", io.EOF, []string{"EOF"}},
		{"a text that repeats its cause's", fmt.Errorf("read: %w", io.EOF), []string{"read: EOF"}},
		{"a private cause", node{"the service failed", node{"dial tcp: refused", nil}}, []string{"the service failed", "dial tcp: refused"}},
		{
			"private, public, private",
			node{"public", node{"wrap: detail", node{"detail", leaf("root")}}},
			[]string{"public", "wrap: detail", "root"},
		},
		{"joined", errors.Join(io.EOF, leaf("a")), []string{"EOF\na"}},
		{"without a text", node{"", nil}, []string{"errtree_test.node without a text"}},
		{"whose method panics", node{"", panicError{}}, []string{"errtree_test.panicError, whose method Error panics: Error panics"}},
		{"whose method panics with what panics", rudeError{}, []string{"errtree_test.rudeError, whose method Error panics: "}},
		{"a typed nil", (*pointer)(nil), []string{"*errtree_test.pointer, whose method Error panics: runtime error: invalid memory address or nil pointer dereference"}},
		{"below one without a text", node{"", io.EOF}, []string{"EOF"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, errtree.Causes(tc.err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
	if got := errtree.Causes(grower(0)); len(got) == 0 || len(got) > 100 {
		t.Errorf("causes of an error that never ends: got %d", len(got))
	}
	if got := strings.Join(errtree.Causes(&loop{}), ""); got != "loop" {
		t.Errorf("causes of an error that wraps itself: got %q", got)
	}
}
