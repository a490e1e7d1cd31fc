package errcode_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

type (
	ledgerError  struct{ text string }
	pointerError struct{ text string }
	castError    struct{}
	temporary    interface {
		error
		Fleeting() bool
	}
	temporaryError struct{}
	sliceError     []int
	holdsError     struct{ v any }
)

func (e ledgerError) Error() string   { return e.text }
func (e *pointerError) Error() string { return e.text }
func (castError) Error() string       { return "cast" }
func (temporaryError) Error() string  { return "temporary" }
func (temporaryError) Fleeting() bool { return true }
func (sliceError) Error() string      { return "slice" }
func (holdsError) Error() string      { return "holds" }
func (castError) As(target any) bool {
	if p, ok := target.(*ledgerError); ok {
		*p = ledgerError{"cast"}
		return true
	}
	return false
}

func TestRulesByTypeAndIdentity(t *testing.T) {
	t.Parallel()
	gone, odd := errors.New("gone"), fmt.Errorf("odd: %w", context.Canceled)
	table := errcode.NewTable(
		errcode.OnError(nil, errcode.NotFound, "nil"),
		errcode.OnError(gone, errcode.NotFound, "gone", errcode.Source("db:x"), errcode.Message("Gone.")),
		errcode.OnError(odd, errcode.NotFound, "odd"),
		errcode.OnType[ledgerError](errcode.RateLimited, "ledger", errcode.RetryAfter(time.Second), errcode.Retriable(false)),
		errcode.When("predicate", func(err error) bool { return err.Error() == "predicate" }, errcode.AuthRequired, "predicate"),
		errcode.OnType[*pointerError](errcode.UpstreamTimeout, ""),
		errcode.OnType[temporary](errcode.UpstreamUnavailable, "temporary"),
		errcode.OnError(sliceError{1}, errcode.NotFound, "slice"),
		errcode.OnError(holdsError{1}, errcode.NotFound, "holds"),
		errcode.OnError(context.DeadlineExceeded, errcode.InvalidInput, "late"),
	)
	var nilPointer *pointerError
	tests := []struct {
		name   string
		err    error
		reason string
	}{
		{"sentinel", gone, "gone"},
		{"wrapped sentinel", wrapped(gone, 9), "gone"},
		{"sentinel in a join", errors.Join(errors.New("x"), wrapped(gone, 1)), "gone"},
		{"sentinel that is a wrapper", wrapped(odd, 2), "odd"},
		{"another wrapper with the same text", fmt.Errorf("odd: %w", context.Canceled), "context_canceled"},
		{"type", wrapped(ledgerError{}, 3), "ledger"},
		{"pointer", wrapped(&pointerError{}, 3), "pointer_error"},
		{"nil pointer", nilPointer, "pointer_error"},
		{"interface", temporaryError{}, "temporary"},
		{"method As", castError{}, "ledger"},
		{"method Is", claimsDeadlineError{}, "late"},
		{"not comparable", sliceError{1}, "slice_error"},
		{"comparable", holdsError{1}, "holds"},
		{"comparable only by type", holdsError{[]int{1}}, "holds_error"},
		{"the first rule wins, not the outermost error", ledgerWrapError{gone}, "gone"},
		{"a later sibling", errors.Join(&pointerError{}, ledgerError{}), "ledger"},
		{"a predicate before a type", errors.Join(predicateTextError{}, &pointerError{}), "pointer_error"},
		{"a predicate alone", errors.New("predicate"), "predicate"},
		{"behind what the defaults decide", errors.Join(status(404), gone), "gone"},
		{"below what the defaults decide", &errcode.HTTPStatusError{StatusCode: 404, Err: gone}, "gone"},
		{"bypassed", errors.Join(errcode.New(errcode.NotFound, "own"), gone), "own"},
		{"none", status(404), "http_status_error"},
		{"deadline below a URL", get(context.DeadlineExceeded), "late"},
		{"cycle", errors.Join(ledgerError{}, &cyclic{}), "ledger"},
		{"panicking", errors.Join(explosive{}, gone), "gone"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				if got := table.Classify(tc.err).Reason; got != tc.reason {
					t.Errorf("reason = %q, want %q", got, tc.reason)
				}
				if got := table.Convert(tc.err).Reason(); got != tc.reason {
					t.Errorf("converted reason = %q, want %q", got, tc.reason)
				}
			}
		})
	}
	want := errcode.Class{Code: errcode.RateLimited, Reason: "ledger", RetryAfter: time.Second, HasRetryAfter: true}
	if diff := cmp.Diff(want, table.Classify(ledgerError{})); diff != "" {
		t.Errorf("class (-want +got):\n%s", diff)
	}
	if e := table.Convert(gone); e.Message() != "Gone." || e.Source() != "db:x" || !errors.Is(e, gone) {
		t.Errorf("got %v from %s", e, e.Source())
	}
}

type ledgerWrapError struct{ error }

func (w ledgerWrapError) Unwrap() error { return w.error }
func (w ledgerWrapError) As(target any) bool {
	p, ok := target.(*ledgerError)
	if ok {
		*p = ledgerError{}
	}
	return ok
}

type predicateTextError struct{}

func (predicateTextError) Error() string { return "predicate" }

// TestRulesAgreeWithTheStandardLibrary compares the fast rules with predicates that say the same.
func TestRulesAgreeWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	fast := errcode.NewTable(typedRules()...)
	var slow []errcode.Rule
	for i, match := range []func(error) bool{
		as[typeAError], as[typeBError], as[typeCError], as[typeDError], as[typeEError], as[typeFError], as[typeGError], as[typeHError], as[typeIError], as[typeJError],
		func(err error) bool { return errors.Is(err, sentinels[9]) },
	} {
		reason := string("abcdefghij"[min(i, 9)])
		if i == 10 {
			reason = "sentinel"
		}
		slow = append(slow, errcode.When(reason, match, errcode.InvalidInput, reason))
	}
	table := errcode.NewTable(slow...)
	leaves := []error{
		typeAError{},
		typeBError{errors.New("x")},
		typeJError{},
		sentinels[9], sentinels[3], status(429), fullError(),
		context.DeadlineExceeded,
		joined{nil, typeCError{errors.New("x")}},
		errors.New("x"),
	}
	for _, a := range leaves {
		for _, b := range leaves {
			err := fmt.Errorf("both: %w", errors.Join(wrapped(a, 2), nodeFailureError{b}))
			if diff := cmp.Diff(table.Classify(err), fast.Classify(err)); diff != "" {
				t.Errorf("%T and %T (-slow +fast):\n%s", a, b, diff)
			}
		}
	}
}

// tagsError cannot be compared, and says itself what it is.
type tagsError []string

func (tagsError) Error() string { return "tags" }
func (e tagsError) Is(target error) bool {
	t, ok := target.(tagsError)
	return ok && len(t) == len(e)
}

// TestSentinelsThatMatchNothing: a nil pointer and a value that cannot be compared are no sentinels,
// except for errors whose own method Is knows them.
func TestSentinelsThatMatchNothing(t *testing.T) {
	t.Parallel()
	var nilPointer *pointerError
	table := errcode.NewTable(
		errcode.OnError(nilPointer, errcode.NotFound, "nil"),
		errcode.OnError(sliceError{1}, errcode.NotFound, "slice"),
		errcode.OnError(tagsError{"a"}, errcode.NotFound, "tags"),
	)
	for reason, err := range map[string]error{
		"pointer_error": nilPointer, "slice_error": sliceError{1}, "tags": fmt.Errorf("x: %w", tagsError{"b"}), "tags_error": tagsError{"b", "c"},
	} {
		if got := table.Classify(err).Reason; got != reason {
			t.Errorf("%T: reason %q, want %q", err, got, reason)
		}
	}
	if rows := table.Rows(); rows[0].Name != "nil *errcode_test.pointerError" {
		t.Errorf("the rule for a nil pointer is called %q", rows[0].Name)
	}
}

func TestShadowed(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	table := errcode.NewTable(
		errcode.OnError(gone, errcode.NotFound, "gone"),
		errcode.When("all", always, errcode.NotFound, "all"),
		errcode.OnType[ledgerError](errcode.NotFound, "ledger"),
		errcode.OnError(gone, errcode.InvalidInput, "again"),
		errcode.OnType[ledgerError](errcode.InvalidInput, "again"),
		errcode.OnError(ledgerError{"x"}, errcode.InvalidInput, "a value of the type"),
		errcode.OnType[temporary](errcode.NotFound, "temporary"),
		errcode.OnType[temporaryError](errcode.NotFound, "of the interface"),
		errcode.OnError(nil, errcode.NotFound, "nil"),
		errcode.Rule{},
		errcode.When("nil", nil, errcode.NotFound, "nil"),
		errcode.OnType[*pointerError](errcode.NotFound, "fine"),
		errcode.OnError(errors.New("gone"), errcode.NotFound, "another error with the same text"),
		errcode.OnError((*pointerError)(nil), errcode.NotFound, "a nil pointer"),
		errcode.OnError(sliceError{1}, errcode.NotFound, "a value that cannot be compared"),
		errcode.OnError(holdsError{[]int{1}}, errcode.NotFound, "a value that holds what cannot be compared"),
		errcode.OnError(holdsError{1}, errcode.NotFound, "a value that can be compared"),
		errcode.OnError(tagsError{"a"}, errcode.NotFound, "a value whose type has a method Is"),
	)
	got := map[int]int{}
	for _, s := range table.Shadowed() {
		got[s.Rule] = s.By
		if !strings.Contains(s.Text, fmt.Sprintf("rule %d ", s.Rule)) {
			t.Errorf("text = %q", s.Text)
		}
	}
	want := map[int]int{3: 0, 4: 2, 5: 2, 7: 6, 8: -1, 9: -1, 10: -1, 13: -1, 14: -1, 15: -1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shadowed (-want +got):\n%s", diff)
	}
	var none *errcode.Table
	if none.Shadowed() != nil || errcode.Default().Shadowed() != nil || errcode.NewTable(typedRules()...).Shadowed() != nil {
		t.Error("found shadows where there are none")
	}
}

func TestTypedRulesConcurrently(t *testing.T) {
	t.Parallel()
	table := errcode.NewTable(typedRules()...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for i, err := range []error{typeAError{}, typeJError{}, sentinels[9], status(404)} {
					want := []string{"a", "j", "sentinel", "http_status_error"}[i]
					if got := table.Classify(wrapped(err, 4)).Reason; got != want {
						t.Errorf("reason = %q, want %q", got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestRuleKeepsTheServersDelay: a rule that sets no delay of its own keeps what
// the error asked for.
func TestRuleKeepsTheServersDelay(t *testing.T) {
	t.Parallel()
	busy := &errcode.HTTPStatusError{StatusCode: 429, Header: http.Header{"Retry-After": {"60"}}}
	for name, rule := range map[string]errcode.Rule{
		"by type":      errcode.OnType[*errcode.HTTPStatusError](errcode.RateLimited, "quota"),
		"by sentinel":  errcode.OnError(busy, errcode.RateLimited, "quota"),
		"by predicate": errcode.When("quota", func(error) bool { return true }, errcode.RateLimited, "quota"),
	} {
		table := errcode.NewTable(rule)
		if c := table.Classify(busy); c.RetryAfter != time.Minute || c.Reason != "quota" {
			t.Errorf("%s: class %+v", name, c)
		}
		if d, ok := table.Convert(busy).RetryAfter(); !ok || d != time.Minute {
			t.Errorf("%s: converted: %v", name, d)
		}
	}
	own := errcode.NewTable(errcode.OnType[*errcode.HTTPStatusError](errcode.RateLimited, "quota", errcode.RetryAfter(time.Second)))
	if c := own.Classify(busy); c.RetryAfter != time.Second {
		t.Errorf("a delay of the rule's own: %+v", c)
	}
}
