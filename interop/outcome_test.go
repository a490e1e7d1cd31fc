package interop

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

// outcome is what a client knows once a call is over.
type outcome struct {
	State     string
	Said      []string       // the texts of the last status message
	Data      map[string]any // of its data part; numbers are json.Number, as the client printed them
	Schema    string         // of the data part, by its metadata
	Artifacts []string       // the text of each, its pieces put together
	Order     string         // of a stream's events
	Restarted bool           // an artifact began anew: what came before is lost
	Open      bool           // an artifact was not closed when the task ended
	Final     string         // of a stream's last event, in A2A 0.3
	Activated string         // the extensions that the response names
	Error     string         // what the client's error can be told by
}

// judge makes the outcome of a reply.
func judge(reply wire.Reply, stream bool) (out outcome, last wire.Event) {
	f := fold{open: map[string]bool{}, at: map[string]int{}}
	for _, ev := range reply.Events {
		f.add(ev)
		if ev.TaskID != "" {
			last.TaskID, last.ContextID = ev.TaskID, ev.ContextID
		}
	}
	out = f.outcome
	if stream {
		out.Order = strings.Join(f.order, " ")
	}
	for _, open := range f.open {
		out.Open = out.Open || open
	}
	if reply.Activated != nil {
		out.Activated = *reply.Activated
	}
	if reply.Error != nil {
		out.Error = kindOf(*reply.Error)
	}
	return out, last
}

// fold puts a stream's events together. It keeps what an artifact update
// without append would replace, and says so.
type fold struct {
	outcome
	order []string
	open  map[string]bool
	at    map[string]int // of an artifact, by its id
}

func (f *fold) add(ev wire.Event) {
	switch ev.Kind {
	case "task":
		f.Artifacts, f.at = nil, map[string]int{}
		for _, a := range ev.Artifacts {
			f.piece(a, false)
		}
		f.status(ev)
	case "artifact":
		for _, a := range ev.Artifacts {
			f.piece(a, ev.Append)
			f.open[a.ID] = !ev.LastChunk
		}
		f.happened("artifact")
	case "status":
		f.status(ev)
		if ev.Final != nil {
			f.Final = map[bool]string{true: "final", false: "not final"}[*ev.Final]
		}
	case "session", "thought":
		f.session(ev)
	default:
		f.happened(ev.Kind)
	}
}

// happened notes an event, once where the same comes again. How often a task
// says that it is at work is a matter of time.
func (f *fold) happened(what string) {
	if what == "status:working" {
		return
	}
	if len(f.order) == 0 || f.order[len(f.order)-1] != what {
		f.order = append(f.order, what)
	}
}

func (f *fold) piece(a wire.Artifact, appended bool) {
	text, _, _ := read(a.Parts)
	i, known := f.at[a.ID]
	if !known {
		f.at[a.ID] = len(f.Artifacts)
		f.Artifacts = append(f.Artifacts, strings.Join(text, ""))
		return
	}
	f.Restarted = f.Restarted || !appended
	f.Artifacts[i] += strings.Join(text, "")
}

func (f *fold) status(ev wire.Event) {
	f.State = state(ev.State)
	f.Said, f.Data, f.Schema = read(ev.Parts)
	f.happened(ev.Kind + ":" + f.State)
}

// session adds an event of a framework that has no artifacts and no status
// messages, but a conversation.
func (f *fold) session(ev wire.Event) {
	if ev.State != "" {
		f.State = state(ev.State)
	}
	said, data, _ := read(ev.Parts)
	if f.State != "working" || ev.Kind != "thought" { // how far the work is differs each time
		f.Said = []string{strings.Join(append(f.Said, said...), "")}
	}
	if data != nil {
		f.Data, f.Schema = data, ev.Parts[len(ev.Parts)-1].Other
	}
	f.Error = ev.Failure
	f.happened(ev.Kind)
}

// state gives a state's name in one spelling for all generations.
func state(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s, "TASK_STATE_")), "_", "-")
}

// read gives the texts of parts, and the data part's value and schema.
func read(parts []wire.Part) (texts []string, data map[string]any, schema string) {
	for _, p := range parts {
		switch {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.Data != nil:
			data, schema = decode(p.Data), ""
			if s, ok := p.Metadata["schema"].(string); ok {
				schema = s
			}
		default:
			texts = append(texts, "not text, not data: "+p.Other)
		}
	}
	return texts, data, schema
}

// decode keeps numbers as they are written. A correlation id differs each
// time: what is looked at is that there is one.
func decode(raw json.RawMessage) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var data map[string]any
	if err := dec.Decode(&data); err != nil {
		return map[string]any{"not an object": string(raw)}
	}
	if id, ok := data["correlationId"].(string); ok && id != "" {
		data["correlationId"] = "some"
	}
	return data
}

// inText is the kind of an error that only its text tells.
const inText = "task not found, by the text alone"

// kindOf gives what a program can tell an error by, best first: its name or
// type, a number, and at last its text.
func kindOf(f wire.Failure) string {
	switch {
	case strings.Contains(f.Name, "TaskNotFound"), f.Code == -32001, f.GRPC == 5, strings.HasSuffix(f.Name, "-32001"):
		return "task not found"
	case f.Status == 404:
		return "HTTP 404"
	case strings.Contains(f.Message, "TASK_NOT_FOUND"), strings.Contains(f.Message, "-32001"), strings.Contains(f.Message, "NOT_FOUND: "):
		return inText
	}
	message, _, _ := strings.Cut(f.Message, `: "`) // what is quoted differs each time
	message, _, _ = strings.Cut(message, ": http")
	message, _, _ = strings.Cut(message, "\n")
	return f.Name + ": " + message
}
