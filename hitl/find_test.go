package hitl_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/a2aexec/a2aexec/hitl"
)

type wrapper struct{ inner error }

func (w wrapper) Error() string { return "wrapper" }
func (w wrapper) Unwrap() error { return w.inner }

type many []error

func (m many) Error() string   { return "many" }
func (m many) Unwrap() []error { return m }

type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

// bush unwraps to itself many times over.
type bush struct{}

func (b *bush) Error() string   { return "bush" }
func (b *bush) Unwrap() []error { return []error{b, b, b} }

type panicError struct{}

func (panicError) Error() string { return "bad" }
func (panicError) Unwrap() error { panic("Unwrap panics") }

type manyPanicError struct{}

func (manyPanicError) Error() string   { return "bad" }
func (manyPanicError) Unwrap() []error { panic("Unwrap panics") }

type pointer struct{ inner error }

func (p *pointer) Error() string { return p.inner.Error() }
func (p *pointer) Unwrap() error { return p.inner }

// mute panics whenever it is asked for its text.
type mute struct{ inner error }

func (mute) Error() string   { panic("Error panics") }
func (m mute) Unwrap() error { return m.inner }

func deep(n int, inner error) error {
	for range n {
		inner = wrapper{inner}
	}
	return inner
}

func TestFind(t *testing.T) {
	t.Parallel()
	ask, other := hitl.InputRequired("ask"), hitl.InputRequired("other")
	failure := errors.New("failure")
	var nilAsk *hitl.Interrupt
	var nilPointer *pointer
	cases := []struct {
		name string
		err  error
		want *hitl.Interrupt
	}{
		{"no error", nil, nil},
		{"a failure", failure, nil},
		{"a wrapped failure", fmt.Errorf("x: %w", failure), nil},
		{"the question itself", ask, ask},
		{"wrapped", fmt.Errorf("x: %w", fmt.Errorf("y: %w", ask)), ask},
		{"wrapped a thousand times", deep(1000, ask), ask},
		{"below an error whose text panics", mute{ask}, ask},
		{"joined alone", errors.Join(ask), ask},
		{"joined with nothing", many{nil, ask, nil}, ask},
		{"the first of several", errors.Join(ask, other), ask},
		{"the first of several, each wrapped", many{wrapper{other}, wrapper{ask}}, other},
		{"nested joins of questions", errors.Join(errors.Join(ask, other), fmt.Errorf("x: %w", other)), ask},
		{"the same question twice", errors.Join(ask, ask), ask},
		{"joined with a failure", errors.Join(ask, failure), nil},
		{"joined after a failure", errors.Join(failure, ask), nil},
		{"wrapped beside a failure", fmt.Errorf("%w and %w", ask, failure), nil},
		{"a failure deep below a question's join", errors.Join(ask, wrapper{errors.Join(other, failure)}), nil},
		{"a join of nothing", many{}, nil},
		{"a join of nils", many{nil, nil}, nil},
		{"joined with a join of nothing", many{ask, many{}}, nil},
		{"typed nil", nilAsk, nil},
		{"wrapped typed nil", fmt.Errorf("x: %w", nilAsk), nil},
		{"joined with a typed nil", errors.Join(ask, nilAsk), nil},
		{"joined after a typed nil", errors.Join(nilAsk, ask), nil},
		{"another type's typed nil", nilPointer, nil},
		{"unwraps to itself", &loop{}, nil},
		{"joined with one that unwraps to itself", errors.Join(ask, &loop{}), nil},
		{"unwraps to itself many times over", &bush{}, nil},
		{"joined with a bush", errors.Join(ask, &bush{}), nil},
		{"panicking Unwrap", panicError{}, nil},
		{"panicking Unwrap of many", manyPanicError{}, nil},
		{"joined with a panicking Unwrap", errors.Join(ask, panicError{}), nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := hitl.Find(tc.err); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	ask := hitl.InputRequired("ask")
	if got := hitl.Find(deep(1_000_000, ask)); got != nil {
		t.Errorf("below a million wraps: got %v, want a failure", got)
	}
	wide := make(many, 0, 1_000_000)
	for range cap(wide) {
		wide = append(wide, ask)
	}
	if got := hitl.Find(wide); got != nil {
		t.Errorf("a million questions joined: got %v, want a failure", got)
	}
}
