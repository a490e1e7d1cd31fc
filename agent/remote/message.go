package remote

import (
	"encoding/json"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// Message is what an agent is asked. A message without parts has an empty text.
type Message struct {
	Parts []stream.Part
	// Metadata goes along with the message. What JSON cannot express is left
	// out.
	Metadata map[string]any
}

// Text is a message of a text.
func Text(text string) Message { return Message{Parts: []stream.Part{stream.TextPart(text)}} }

// Data is a message of a JSON value.
func Data(v any) Message { return Message{Parts: []stream.Part{stream.DataPart(v)}} }

// Answer is what a remote agent answered, all of it or, beside an error, what
// came before that. Its methods work on nil.
type Answer struct {
	// Artifacts are the artifacts of the remote task, or the one of its message,
	// with their metadata as it was last.
	Artifacts []agent.Artifact
	// Note is the text of the remote's last status message.
	Note string
	// Rejected says that the remote declined the task.
	Rejected bool
	// TaskID and ContextID are the remote's; empty where it gave none.
	TaskID, ContextID string

	forwarded bool
}

// Text is all text of the artifacts, one line for each that has any; data
// without text as JSON.
func (a *Answer) Text() string {
	if a == nil {
		return ""
	}
	var lines []string
	for _, artifact := range a.Artifacts {
		var b strings.Builder
		for _, p := range artifact.Parts {
			switch p.Kind() {
			case stream.KindText:
				b.WriteString(p.Text())
			case stream.KindData:
				if raw, err := json.Marshal(p.Data()); err == nil {
					b.Write(raw)
				}
			default:
			}
		}
		if b.Len() > 0 {
			lines = append(lines, b.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Data is the first JSON value among the artifacts, nil without one. It must not
// be changed.
func (a *Answer) Data() any {
	if a == nil {
		return nil
	}
	for _, artifact := range a.Artifacts {
		for _, p := range artifact.Parts {
			if p.Kind() == stream.KindData {
				return p.Data()
			}
		}
	}
	return nil
}

// Result is the answer as the result of the caller's own code. What was
// forwarded as it came is not in it again.
func (a *Answer) Result() *agent.Result {
	if a == nil {
		return nil
	}
	res := &agent.Result{Note: a.Note, Rejected: a.Rejected}
	if !a.forwarded {
		res.Artifacts = a.Artifacts
	}
	return res
}
