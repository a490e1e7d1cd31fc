package errcode

import "strconv"

// GuardrailBlockedError says that a policy blocked the request or the answer:
// [GuardrailBlocked], with the category and the fields in the guardrail data. All its text is
// public.
type GuardrailBlockedError struct {
	// Category is what a UI shows, sent as violationCategory.
	Category string
	// Message is for people; "" for a text made from the category.
	Message string
	// Fields is anything else about the violation.
	Fields map[string]any
	// Err is the cause, if any.
	Err error
}

func (e *GuardrailBlockedError) Error() string {
	switch {
	case e == nil:
		return nilText
	case e.Message != "":
		return e.Message
	case e.Category != "":
		return "blocked by guardrail: " + e.Category
	default:
		return "blocked by guardrail"
	}
}

// Unwrap returns Err.
func (e *GuardrailBlockedError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// MissingAPIKeyError says that an API key is not configured: [AuthRequired].
type MissingAPIKeyError struct {
	// Name is the name of the key, never its value.
	Name string
}

func (e *MissingAPIKeyError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("missing API key", e.Name, nil)
}

// RegistryUnauthorizedError says that a registry refused the credentials: [AuthRequired].
type RegistryUnauthorizedError struct {
	Registry string
	Err      error
}

func (e *RegistryUnauthorizedError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("not authorized at registry", e.Registry, e.Err)
}

// Unwrap returns Err.
func (e *RegistryUnauthorizedError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// RegistryNotFoundError says that a registry does not know a name: [NotFound].
type RegistryNotFoundError struct {
	Registry string
	Name     string
	Err      error
}

func (e *RegistryNotFoundError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence(joinWords(e.Name, "not found in registry"), e.Registry, e.Err)
}

// Unwrap returns Err.
func (e *RegistryNotFoundError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// RegistryTimeoutError says that a registry did not answer in time: [UpstreamTimeout].
type RegistryTimeoutError struct {
	Registry string
	Err      error
}

func (e *RegistryTimeoutError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("timeout at registry", e.Registry, e.Err)
}

// Unwrap returns Err.
func (e *RegistryTimeoutError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ComponentInvokeError says that calling a component (a tool, a model, a database) failed. It
// only tells where: a cause that says more decides, else it is [UpstreamUnavailable].
type ComponentInvokeError struct {
	Component string
	Err       error
}

func (e *ComponentInvokeError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("invoke component", e.Component, e.Err)
}

// Unwrap returns Err.
func (e *ComponentInvokeError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ComponentLoadError says that loading a component failed. It only tells where: a cause that says
// more decides, else it is [UpstreamUnavailable].
type ComponentLoadError struct {
	Component string
	Err       error
}

func (e *ComponentLoadError) Error() string {
	if e == nil {
		return nilText
	}
	return sentence("load component", e.Component, e.Err)
}

// Unwrap returns Err.
func (e *ComponentLoadError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

const nilText = "<nil>"

// sentence writes "what name: cause", leaving out what is empty.
func sentence(what, name string, cause error) string {
	s := joinWords(what, name)
	if text := errorText(cause); text != "" {
		s += ": " + text
	}
	return s
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

func limitText(what string, limit int) string {
	if limit == 0 {
		return what
	}
	return what + " (limit " + strconv.Itoa(limit) + ")"
}
