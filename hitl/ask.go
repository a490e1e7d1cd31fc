package hitl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
	"github.com/a2aexec/a2aexec/internal/typed"
)

// Asker knows the answers to the questions of one run. Whoever runs user code
// puts one into its context with [WithAsker].
//
// Answer is asked for the question that the code running in ctx calls key. It
// returns the question's id, which is the same whenever the run comes by again,
// and its answer if there is one: any JSON value, or JSON itself as a
// json.RawMessage. It must be safe for concurrent use.
type Asker interface {
	Answer(ctx context.Context, key string) (id string, answer any, answered bool, err error)
}

type askerKey struct{}

// WithAsker returns a context in which [Ask] finds its answers at a.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerFrom returns the asker of the innermost run that ctx belongs to; ok is
// false where there is none.
func AskerFrom(ctx context.Context) (a Asker, ok bool) {
	a, ok = ctx.Value(askerKey{}).(Asker)
	return a, ok && a != nil
}

// The errors of [Ask] that are not questions.
var (
	// ErrNoKey refuses a question without a key.
	ErrNoKey = errors.New("hitl: a question needs a key")
	// ErrNoAsker says that nobody who could answer runs the code.
	ErrNoAsker = errors.New("hitl: nobody to ask in this context")
)

// Ask returns the answer to a question, or parks the task until there is one.
//
//	birthday, err := hitl.Ask[string](ctx, "birthday", "What is your date of birth?")
//	if err != nil {
//		return nil, err
//	}
//
// As long as the question is open, the error is an [*Interrupt] to be returned,
// wrapped or not, in the manner of fs.SkipDir. After the answer the code runs
// again from its start and Ask returns the answer, so what comes before it
// should be harmless to repeat. The key tells apart the questions of one piece
// of code: it must not be empty and must be the same each time.
//
// An answer that is not a T, or does not satisfy the validate tags of a struct
// (github.com/go-playground/validator), asks again; the data part then has all
// that was wrong under "violations", as a list of {field, expected, actual,
// message}. A null is no answer to a question for a type without one, such as
// an int. A text answers a question for another type if it is the JSON of one
// ("42" for an int). Other errors: [ErrNoKey], [ErrNoAsker], and those of the asker.
func Ask[T any](ctx context.Context, key, prompt string, opts ...Option) (T, error) {
	var zero T
	id, answer, answered, err := lookUp(ctx, key)
	if err != nil {
		return zero, err
	}
	if !answered {
		return zero, question(id, prompt, opts, nil)
	}
	v, err := decode[T](answer)
	if err != nil {
		return zero, question(id, prompt, opts, violations(err))
	}
	return v, nil
}

func lookUp(ctx context.Context, key string) (id string, answer any, answered bool, err error) {
	if key == "" {
		return "", nil, false, ErrNoKey
	}
	asker, ok := AskerFrom(ctx)
	if !ok {
		return "", nil, false, ErrNoAsker
	}
	id, answer, answered, err = asker.Answer(ctx, plain.Key(key))
	if err != nil {
		return "", nil, false, fmt.Errorf("look up answer to %q: %w", key, err)
	}
	return id, answer, answered, nil
}

// question makes the interrupt. It has the asker's id whatever the options say.
func question(id, prompt string, opts []Option, wrong []any) *Interrupt {
	i := InputRequired(prompt, opts...)
	i.id = id
	if len(wrong) > 0 {
		i.told("violations", wrong)
	}
	return i
}

// decode makes a T of an answer.
func decode[T any](answer any) (v T, err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	raw, isJSON := answer.(json.RawMessage)
	if !isJSON { // also where it is a T: the asker keeps its own
		raw, err = json.Marshal(answer)
		if err != nil {
			return v, err
		}
	}
	if err = typed.Decode(raw, reflect.ValueOf(&v)); err == nil {
		return v, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || !json.Valid([]byte(text)) {
		return v, err
	}
	var again T
	err = typed.Decode([]byte(text), reflect.ValueOf(&again))
	return again, err
}

var errPanicked = errors.New("decoding the answer panicked")

// violations says what is wrong with an answer.
func violations(cause error) []any {
	found := errcode.Default().Convert(cause).Violations()
	if len(found) == 0 {
		found = []errcode.Violation{{
			Expected: "a value of the expected form", Message: "The answer has another form than the one that was asked for.",
		}}
	}
	out := make([]any, 0, len(found))
	for _, f := range found {
		v := map[string]any{"field": f.Field, "expected": f.Expected, "message": f.Message}
		if actual, _ := plain.Value(f.Actual); actual != nil {
			v["actual"] = actual
		}
		out = append(out, v)
	}
	return out
}
