package interop

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// fault is what a client is known to get wrong, or cannot do, checked to be
// still so.
type fault struct {
	note       string // its text on the page, by name
	clients    []string
	bindings   []string // none: all
	situations []string // none: all
	turns      []string // by name, "" the first; none: all
	mode       string   // "": both
	// alter makes of the outcome that the specification promises the one that
	// the fault leads to; where nothing changes, the fault does not show. A
	// nil alter makes the call, and those after it, impossible.
	alter func(*outcome)
}

func (f fault) applies(at cell, turn turn) bool {
	among := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	return among(f.clients, at.id) && among(f.bindings, at.binding) && among(f.situations, at.situation) &&
		among(f.turns, turn.name) && (f.mode == "" || f.mode == at.mode && !turn.same)
}

var (
	rest03   = []string{"0.3 HTTP+JSON"}
	protobuf = []string{"0.3 HTTP+JSON", "0.3 gRPC"} // what 0.3 sends as JSON, or bytes, of protocol buffers
	unknown  = []string{"unknown task"}
)

// faults are applied in this order.
var faults = slices.Concat(clientFaults, adkFaults)

// clientFaults are the clients' own.
var clientFaults = []fault{
	{
		note: "js-stream-error", clients: []string{"js", "js03"}, bindings: []string{"1.0 JSON-RPC", "0.3 JSON-RPC"},
		situations: unknown, mode: "streaming",
		alter: becomes(inText),
	},
	{
		note: "js-append", clients: []string{"js", "js03"}, bindings: protobuf, situations: []string{"broken stream"}, mode: "streaming",
		alter: func(o *outcome) { o.Restarted = true },
	},
	{
		note: "js-metadata", clients: []string{"js", "js03"}, bindings: protobuf,
		alter: func(o *outcome) { o.Schema = "" },
	},
	{note: "python-floats", clients: []string{"python"}, alter: floats},
	{note: "python-floats", clients: []string{"python03"}, bindings: protobuf, alter: floats},
	{
		note: "python-status", clients: []string{"python03"}, bindings: rest03, situations: unknown,
		alter: becomes("HTTP 404"),
	},
	{
		note: "a2ago-data", clients: []string{"a2ago"}, bindings: []string{"0.3 JSON-RPC"}, situations: unknown,
		alter: becomes("*fmt.wrapError: failed to decode response: " + noArray),
	},
	{
		note: "a2ago-data", clients: []string{"a2ago"}, bindings: []string{"0.3 JSON-RPC"}, situations: unknown, turns: []string{"send"}, mode: "streaming",
		alter: becomes("*fmt.wrapError: failed to parse SSE data: " + noArray),
	},
	{
		note: "python-grpc03", clients: []string{"python"}, bindings: []string{"0.3 gRPC"}, situations: unknown,
		alter: becomes(inText),
	},
	{
		note: "trpc-stream-error", clients: []string{"trpc"}, situations: unknown, mode: "streaming",
		alter: becomes(""),
	},
}

const noArray = "json: cannot unmarshal object into Go struct field Error.error.data of type []*errordetails.Typed"

// adkFaults are less faults than what a remote agent is: a partner in a
// conversation, with no word for tasks.
var adkFaults = []fault{
	{note: "adk-session", clients: []string{"adk"}, turns: []string{"", "answer"}, alter: session},
	{note: "adk-operations", clients: []string{"adk"}, situations: unknown},
	{note: "adk-operations", clients: []string{"adk"}, situations: []string{"cancel"}, turns: []string{""}, mode: "blocking"},
	{
		note: "adk-cancel", clients: []string{"adk"}, situations: []string{"cancel"}, turns: []string{""}, mode: "streaming",
		alter: func(o *outcome) { o.State, o.Order = "working", "thought" },
	},
	{note: "adk-operations", clients: []string{"adk"}, turns: []string{"get"}, alter: func(o *outcome) { *o = outcome{State: o.State} }},
	{
		note: "adk-auth", clients: []string{"adk"}, situations: []string{"auth, answer"}, turns: []string{""}, mode: "streaming",
		alter: func(o *outcome) { o.Order = "thought" },
	},
	{
		note: "adk-auth", clients: []string{"adk"}, situations: []string{"auth, answer"}, turns: []string{"get"},
		alter: func(o *outcome) { o.State = "canceled" },
	},
	{note: "adk-answer", clients: []string{"adk"}, turns: []string{"answer"}},
}

// becomes is a fault by which the client's error is another.
func becomes(err string) func(*outcome) { return func(o *outcome) { o.Error = err } }

// floats makes numbers what they are to protocol buffers.
func floats(o *outcome) {
	o.Data = maps.Clone(o.Data)
	for k, v := range o.Data {
		if n, ok := v.(json.Number); ok {
			o.Data[k] = n + ".0"
		}
	}
}

// session puts an outcome into a conversation.
func session(o *outcome) {
	if o.State == "failed" {
		o.Error = strings.Join(o.Said, "")
	}
	if all := slices.Concat(o.Artifacts, o.Said); len(all) > 0 {
		o.Said, o.Artifacts = []string{strings.Join(all, "")}, nil
	}
	if o.Order != "" {
		o.Order = "session"
	}
	if o.Data != nil {
		o.Schema = "inline text/plain"
	}
}
