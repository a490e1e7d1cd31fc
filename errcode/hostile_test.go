package errcode_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

// joined is a join that may hold nil entries.
type joined []error

func (joined) Error() string     { return "joined" }
func (j joined) Unwrap() []error { return j }

// cyclic unwraps to itself.
type cyclic struct{}

func (*cyclic) Error() string   { return "cyclic" }
func (c *cyclic) Unwrap() error { return c }

// bushy unwraps to itself, twice.
type bushy struct{}

func (*bushy) Error() string     { return "bushy" }
func (b *bushy) Unwrap() []error { return []error{b, b} }

// endless unwraps to ever new errors.
type endless int

func (endless) Error() string   { return "endless" }
func (e endless) Unwrap() error { return e + 1 }

// explosive panics in every method.
type explosive struct{ _ []int } // not comparable

func (explosive) Error() string            { panic("Error") }
func (explosive) Unwrap() error            { panic("Unwrap") }
func (explosive) Timeout() bool            { panic("Timeout") }
func (explosive) Is(error) bool            { panic("Is") }
func (explosive) As(any) bool              { panic("As") }
func (explosive) ErrorNode() (a, b string) { panic("ErrorNode") }

type explosiveTextError struct{}

func (explosiveTextError) Error() string { panic("Error") }

type explosiveJoinError struct{}

func (explosiveJoinError) Error() string   { return "join" }
func (explosiveJoinError) Unwrap() []error { panic("Unwrap") }

// valueError has a value receiver, so that calling it through a nil pointer panics.
type valueError struct{ text string }

func (e valueError) Error() string { return e.text }

func TestHostileErrors(t *testing.T) {
	t.Parallel()
	limited := errcode.New(errcode.RateLimited, "quota")
	var (
		nilValue *valueError
		nilOwn   *errcode.Error
		nilBlock *errcode.GuardrailBlockedError
		nilHTTP  *errcode.HTTPStatusError
		nilPanic *errcode.PanicError
	)
	tests := []struct {
		name string
		err  error
		want errcode.Code
	}{
		{"cycle", &cyclic{}, errcode.Internal},
		{"cycle with two branches", &bushy{}, errcode.Internal},
		{"cycle under a carrier", &errcode.ComponentInvokeError{Err: &cyclic{}}, errcode.UpstreamUnavailable},
		{"no end", endless(0), errcode.Internal},
		{"a hundred thousand levels", deep(limited, 100_000), errcode.RateLimited},
		{"a million levels", deep(limited, 1_000_000), errcode.Internal},
		{"panicking methods", explosive{}, errcode.Internal},
		{"panicking sibling", joined{explosive{}, explosiveJoinError{}, limited}, errcode.RateLimited},
		{"panicking cause", fmt.Errorf("x: %w", wrap{explosive{}}), errcode.Internal},
		{"nil pointer with a value method", nilValue, errcode.Internal},
		{"nil application error", nilOwn, errcode.Internal},
		{"nil named error", nilBlock, errcode.Internal},
		{"nil HTTP error", nilHTTP, errcode.Internal},
		{"nil panic", nilPanic, errcode.Internal},
		{"nil pointer in a join", joined{nilOwn, nilBlock, limited}, errcode.RateLimited},
		{"only nil in a join", joined{nil}, errcode.Internal},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := errcode.CodeOf(tc.err); got != tc.want {
				t.Errorf("code = %s, want %s", got, tc.want)
			}
			e := errcode.Default().Convert(tc.err)
			if e.Code() != tc.want {
				t.Errorf("converted code = %s, want %s", e.Code(), tc.want)
			}
			if _, err := (errcode.Builder{}).Data(e); err != nil {
				t.Errorf("data: %v", err)
			}
			_ = e.LogValue().Resolve()
		})
	}
}

// wrap does not touch what it wraps when it is printed.
type wrap struct{ inner error }

func (wrap) Error() string   { return "wrapped" }
func (w wrap) Unwrap() error { return w.inner }

// deep is wrapped without texts that grow with the depth.
func deep(err error, depth int) error {
	for range depth {
		err = wrap{err}
	}
	return err
}

// hostileFieldError is a validation error that panics when it is asked for more.
type hostileFieldError struct{ validator.FieldError }

func (hostileFieldError) Error() string { panic("Error") }
func (hostileFieldError) Tag() string   { panic("Tag") }

// TestWhatAnErrorAddsMayPanic: the code stands, even if the rest cannot be had.
func TestWhatAnErrorAddsMayPanic(t *testing.T) {
	t.Parallel()
	e := errcode.Default().Convert(validator.ValidationErrors{hostileFieldError{}})
	if e.Code() != errcode.InvalidInput || e.Violations() != nil {
		t.Errorf("got %v with %v", e, e.Violations())
	}
}

func TestRulesAreKeptFromEndlessErrors(t *testing.T) {
	t.Parallel()
	table := errcode.NewTable(errcode.When("as", func(err error) bool {
		var target *errcode.RoutingError
		return errors.As(err, &target) // would never return
	}, errcode.NotFound, "x"))
	for _, err := range []error{&cyclic{}, endless(0), wrap{&cyclic{}}} {
		if got := table.Classify(err).Code; got != errcode.Internal {
			t.Errorf("%T: code = %s", err, got)
		}
	}
	chain := deep(&errcode.RoutingError{}, 100_000)
	if got := table.Classify(chain).Code; got != errcode.NotFound {
		t.Errorf("a deep chain: code = %s, want the rule's", got)
	}
}

func TestClassifyConcurrently(t *testing.T) {
	t.Parallel()
	table := errcode.NewTable(errcode.When("s3", func(err error) bool {
		var target s3APIError
		return errors.As(err, &target)
	}, errcode.NotFound, ""))
	errs := []error{
		wrapped(s3APIError{}, 3), validationErrors(t), get(errors.New("x")), errors.Join(errors.New("x"), fullError()),
		explosive{},
		joined{nil, &HTTPQuotaError{}},
	}
	want := make([]errcode.Class, len(errs))
	for i, err := range errs {
		want[i] = table.Classify(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				for i, err := range errs {
					if diff := cmp.Diff(want[i], table.Classify(err)); diff != "" {
						t.Errorf("%d changed: %s", i, diff)
					}
					if e := table.Convert(err); e.Code() != want[i].Code {
						t.Errorf("%d: Convert gave %s", i, e.Code())
					}
				}
			}
		})
	}
	wg.Wait()
}
