package hitl

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// Schema names the data part of a question in the part's metadata, under the
// key "schema".
const Schema = "input-required/v1"

// Interrupt parks a task until somebody answers. It is an error only so that
// user code can return it; it says nothing went wrong. It is immutable.
type Interrupt struct { //nolint:errname // not a failure; in the manner of fs.SkipDir
	id      string
	prompt  string
	payload map[string]any
	dropped []string
	auth    bool
	members map[string]any // of a question for credentials
	memo    map[string]any
	lost    []string // of memo
}

// InputRequired asks for input with a prompt for people. Return the result as
// the run's error. An empty prompt becomes "Input is required.".
func InputRequired(prompt string, opts ...Option) *Interrupt {
	prompt = strings.ToValidUTF8(prompt, "\uFFFD")
	if prompt == "" {
		prompt = "Input is required."
	}
	i := &Interrupt{prompt: prompt}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(i)
		}
	}
	return i
}

// Option adds to a question.
type Option struct{ apply func(*Interrupt) }

// Payload gives programs what they need to ask the question well: a schema, a
// list of choices, a form. An object's members become the members of the data
// part; any other value is sent under "value". The value is converted here and
// now; what JSON cannot express is left out. Default, and nil: none.
func Payload(v any) Option {
	var m map[string]any
	data, dropped := plain.Value(v)
	if data != nil {
		m, _ = plain.Map(data)
	}
	return Option{func(i *Interrupt) { i.payload, i.dropped = m, dropped }}
}

// ID gives the question an id, by which an answer can name it. [Ask] sets it;
// default: none. Programs find it in the data part under "id".
func ID(id string) Option {
	id = strings.ToValidUTF8(id, "\uFFFD")
	return Option{func(i *Interrupt) { i.id = id }}
}

// Error says what is asked.
func (i *Interrupt) Error() string {
	switch {
	case i == nil:
		return "input required"
	case i.auth:
		return "authentication required: " + i.prompt
	}
	return "input required: " + i.prompt
}

// ID is what an answer names the question by, "" if it has no id.
func (i *Interrupt) ID() string {
	if i == nil {
		return ""
	}
	return i.id
}

// Prompt is the question for people.
func (i *Interrupt) Prompt() string {
	if i == nil {
		return ""
	}
	return i.prompt
}

// Data is the content of the data part: the prompt under "question", unless the
// payload has a member of that name, the id, if there is one, under "id", what
// [Auth] and its like tell, what [Ask] found wrong with an answer, and the
// payload's members. Those by whose names something else is found are under
// "payload" instead: an answer finds its question by the id. The map is the
// caller's.
func (i *Interrupt) Data() map[string]any {
	if i == nil {
		return nil
	}
	m := map[string]any{"question": i.prompt}
	for k, v := range i.payload {
		m[k], _ = plain.Value(v) // a copy
	}
	own := maps.Clone(i.members)
	if i.id != "" {
		if own == nil {
			own = map[string]any{}
		}
		own["id"] = i.id
	}
	hidden := map[string]any{}
	for k, v := range own {
		if theirs, both := i.payload[k]; both && !reflect.DeepEqual(theirs, v) {
			hidden[k], _ = plain.Value(theirs)
		}
		m[k], _ = plain.Value(v)
	}
	if len(hidden) > 0 {
		if theirs, both := i.payload["payload"]; both {
			hidden["payload"], _ = plain.Value(theirs)
		}
		m["payload"] = hidden
	}
	return m
}

// Dropped lists what [Payload] and [Memo] left out, each as a JSON Pointer and a
// reason.
func (i *Interrupt) Dropped() []string {
	if i == nil {
		return nil
	}
	return slices.Concat(i.dropped, i.lost)
}
