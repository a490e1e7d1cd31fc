package tool

import (
	"errors"
	"slices"
	"time"

	"github.com/a2aexec/a2aexec/errcode/retry"
)

// LoopOption sets one thing about a [Loop]. Options are applied in order, so a
// later one wins. A value that makes no sense is an error of [NewLoop].
type LoopOption struct{ apply func(*loopSettings) error }

type loopSettings struct {
	system     string
	iterations int
	parallel   int
	timeout    time.Duration
	silent     bool
	guard      []GuardOption
	retry      []retry.Option
}

func newLoopSettings(opts []LoopOption) (loopSettings, error) {
	s := loopSettings{iterations: 25, parallel: 4}
	var errs []error
	for _, o := range opts {
		if o.apply != nil {
			errs = append(errs, o.apply(&s))
		}
	}
	return s, errors.Join(errs...)
}

// System is the instruction that goes with every call of the model. Default: none.
func System(text string) LoopOption {
	return LoopOption{func(s *loopSettings) error { s.system = text; return nil }}
}

// MaxIterations is how often the model is asked in one run. When it wants to
// call tools even then, the run fails with an errcode.MaxToolIterationsError.
// Default 25; less than 1 is invalid.
func MaxIterations(n int) LoopOption {
	return LoopOption{func(s *loopSettings) error {
		s.iterations = n
		return atLeast("max iterations", n, 1)
	}}
}

// Parallel is how many calls of one answer run at once; of one tool there are
// never more than its [Strikes]. Default 4; less than 1 is invalid.
func Parallel(n int) LoopOption {
	return LoopOption{func(s *loopSettings) error {
		s.parallel = n
		return atLeast("parallel", n, 1)
	}}
}

// ModelTimeout is how long one call of the model may take, each attempt by
// itself. A model that does not listen is left behind, as a tool is. Default, and 0: no limit but that of the context; negative is invalid.
func ModelTimeout(d time.Duration) LoopOption {
	return LoopOption{func(s *loopSettings) error {
		s.timeout = d
		return atLeast("model timeout", d, 0)
	}}
}

// ModelRetry says how calls of the model whose failure may pass are repeated.
// Once a part of an answer was streamed, nothing is. Default: as package
// errcode/retry does, three attempts, but no more than 30 s apart, so that a model
// that asks for an hour fails the run with RATE_LIMITED and that delay (retry.MaxWait);
// retry.MaxAttempts(1) never repeats.
func ModelRetry(opts ...retry.Option) LoopOption {
	opts = slices.Clone(opts)
	return LoopOption{func(s *loopSettings) error { s.retry = opts; return nil }}
}

// Guarded says how the loop's tools are guarded; see [Guard] for the defaults.
func Guarded(opts ...GuardOption) LoopOption {
	opts = slices.Clone(opts)
	return LoopOption{func(s *loopSettings) error { s.guard = opts; return nil }}
}

// Silent keeps the model's text from being streamed. Default: it goes to the
// writer in the context as it comes.
func Silent() LoopOption {
	return LoopOption{func(s *loopSettings) error { s.silent = true; return nil }}
}
