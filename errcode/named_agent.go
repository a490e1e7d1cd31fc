package errcode

// ConfigValidationError says that a setting or an input breaks its rules: [InvalidInput], with
// one violation.
type ConfigValidationError struct {
	// Field is a JSON Pointer or a plain field name, which is made into one.
	Field string
	// Expected says what would have been right.
	Expected string
	// Message is for people.
	Message string
	// Err is the cause, if any.
	Err error
}

func (e *ConfigValidationError) Error() string {
	if e == nil {
		return nilText
	}
	what := joinWords("invalid", e.Field)
	if what == "invalid" {
		what = "invalid configuration"
	}
	switch {
	case e.Message != "":
		what += ": " + e.Message
	case e.Expected != "":
		what += ": expected " + e.Expected
	}
	return sentence(what, "", e.Err)
}

// Unwrap returns Err.
func (e *ConfigValidationError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// MissingFieldError says that a required field is absent: [InvalidInput], with one violation.
type MissingFieldError struct {
	// Field is a JSON Pointer or a plain field name, which is made into one.
	Field string
}

func (e *MissingFieldError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("missing required field", e.Field, nil)
}

// MaxToolIterationsError says that a loop of model and tools reached its limit:
// [UpstreamUnavailable] with the reason max_tool_iterations_exceeded.
type MaxToolIterationsError struct {
	// Limit is the number of rounds that were allowed; 0 if unknown.
	Limit int
}

func (e *MaxToolIterationsError) Error() string {
	if e == nil {
		return nilText
	}
	return limitText("too many tool iterations", e.Limit)
}

// MaxIterationError says that a flow or a loop reached its limit: [Internal].
type MaxIterationError struct {
	// Limit is the number of rounds that were allowed; 0 if unknown.
	Limit int
}

func (e *MaxIterationError) Error() string {
	if e == nil {
		return nilText
	}
	return limitText("too many iterations", e.Limit)
}

// MergeStrategyError says that the outputs of parallel branches could not be merged: [Internal].
type MergeStrategyError struct {
	// Key is the state key in conflict.
	Key string
	Err error
}

func (e *MergeStrategyError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("cannot merge", e.Key, e.Err)
}

// Unwrap returns Err.
func (e *MergeStrategyError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// RoutingError says that a router named a route that does not exist: [Internal].
type RoutingError struct {
	Node  string
	Route string
}

func (e *RoutingError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence(joinWords("no route", e.Route), joinWords("from", e.Node), nil)
}

// A2AProtocolError says that the agent itself broke the A2A protocol: [Internal].
type A2AProtocolError struct {
	Message string
	Err     error
}

func (e *A2AProtocolError) Error() string {
	if e == nil {
		return nilText
	}
	if e.Message == "" {
		return sentence("A2A protocol error", "", e.Err)
	}
	return sentence(e.Message, "", e.Err)
}

// Unwrap returns Err.
func (e *A2AProtocolError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
