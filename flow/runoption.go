package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// RunOption changes how a flow runs. Given to [Graph.Compile] it counts for
// every run. A bad value is an error of whoever was given it.
type RunOption struct{ set func(*config) string }

// config is what options say about a run.
type config struct {
	store   Store
	codec   Codec
	hook    Hook
	steps   int
	keep    int
	discard bool
	anyway  bool

	isolated bool
	nest     *nest // of a nested run
	answers  []answer
}

type answer struct {
	id   string
	data json.RawMessage
}

const defaultSteps = 1000

func (c *config) configure(opts []RunOption) []string {
	if c.steps == 0 {
		c.steps, c.keep, c.codec = defaultSteps, 1, jsonCodec{}
	}
	var faults []string
	for _, o := range opts {
		if o.set == nil {
			continue
		}
		if fault := o.set(c); fault != "" {
			faults = append(faults, fault)
		}
	}
	return faults
}

// optionError is the error of a run with bad options, nil if there are none.
func optionError(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("flow: bad option: %s", strings.Join(faults, "; "))
}

// WithStore saves checkpoints of the run, so that it can be resumed. Default,
// and nil: none are made.
func WithStore(s Store) RunOption {
	return RunOption{func(c *config) string { c.store = s; return "" }}
}

// WithCodec replaces how states and outputs are turned into bytes. A run must
// be resumed with the codec it began with. Default: encoding/json. nil is an error.
func WithCodec(codec Codec) RunOption {
	return RunOption{func(c *config) string {
		if codec == nil {
			return "WithCodec(nil)"
		}
		c.codec = codec
		return ""
	}}
}

// OnEvent calls fn for what happens in a run, see [Event]. Default, and nil: nobody is told.
func OnEvent(fn Hook) RunOption {
	return RunOption{func(c *config) string { c.hook = fn; return "" }}
}

// MaxSteps limits the rounds of a run, those before a resume included; a round
// runs all nodes whose turn it is. One more ends the run as a [*LimitError].
// Default: 1000. Less than 1 is an error.
func MaxSteps(n int) RunOption {
	return RunOption{func(c *config) string {
		if n < 1 {
			return fmt.Sprintf("MaxSteps(%d): less than 1", n)
		}
		c.steps = n
		return ""
	}}
}

// KeepLast sets how many checkpoints of a run a store should keep, 0 for all.
// Only the last is ever needed. Default: 1. Negative is an error.
func KeepLast(n int) RunOption {
	return RunOption{func(c *config) string {
		if n < 0 {
			return fmt.Sprintf("KeepLast(%d): negative", n)
		}
		c.keep = n
		return ""
	}}
}

// DeleteOnSuccess removes a run from the store once it has ended well. Its id
// can be used again then. Default: the last checkpoint stays, and the id with it.
func DeleteOnSuccess() RunOption {
	return RunOption{func(c *config) string { c.discard = true; return "" }}
}

// AllowChangedGraph resumes a run although the graph is not the one it began
// with. The nodes that are to run or have run must still exist.
func AllowChangedGraph() RunOption {
	return RunOption{func(c *config) string { c.anyway = true; return "" }}
}

// Answer gives the answer to an open question, by the id of its interrupt, to
// [Compiled.Resume]. The value is any JSON value. An empty id, a second answer to one
// question and a value that JSON cannot express are errors.
func Answer(askID string, value any) RunOption {
	return RunOption{func(c *config) string {
		if askID == "" {
			return "Answer: no id of a question"
		}
		for _, a := range c.answers {
			if a.id == askID {
				return fmt.Sprintf("Answer: two answers to %q", askID)
			}
		}
		data, err := encode(jsonCodec{}, value)
		if err != nil {
			return fmt.Sprintf("Answer to %q: %v", askID, err)
		}
		c.answers = append(slices.Clip(c.answers), answer{askID, data})
		return ""
	}}
}
