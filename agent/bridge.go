package agent

// The one place of this package that reads a2a types.

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/plain"
	"github.com/a2aexec/a2aexec/stream"
)

// content is a message's parts by kind.
type content struct {
	text  string
	data  []any
	files []stream.File
}

func contentOf(m *a2a.Message) content {
	c := content{data: []any{}}
	var texts []string
	for _, p := range m.Parts {
		if p == nil {
			continue
		}
		switch v := p.Content.(type) {
		case a2a.Text:
			texts = append(texts, string(v))
		case a2a.Data:
			c.data = append(c.data, v.Value)
		case a2a.Raw:
			c.files = append(c.files, stream.File{Name: p.Filename, MediaType: p.MediaType, Bytes: v})
		case a2a.URL:
			c.files = append(c.files, stream.File{Name: p.Filename, MediaType: p.MediaType, URI: string(v)})
		}
	}
	c.text = strings.Join(texts, "\n")
	return c
}

// historyBefore gives the conversation before current. The host stores a
// follow-up in the history while the question it answers is still the status.
func historyBefore(t *a2a.Task, current *a2a.Message) []*a2a.Message {
	if t == nil {
		return nil
	}
	said := t.History
	if n := len(said); n > 0 && isMessage(said[n-1], current) && !answersQuestion(said[:n]) {
		said = said[:n-1]
	}
	var out []*a2a.Message
	for _, m := range said {
		if m != nil {
			out = append(out, cloneMessage(m))
		}
	}
	if q := t.Status.Message; q != nil {
		out = append(out, cloneMessage(q))
	}
	return out
}

// isMessage reports whether stored is the message in hand, or a copy of it. The
// id alone does not tell: clients reuse them.
func isMessage(stored, current *a2a.Message) bool {
	return stored == current ||
		stored != nil && stored.ID == current.ID && reflect.DeepEqual(stored.Parts, current.Parts)
}

// answersQuestion reports whether the last message follows a question: then it
// answered that one. A message in hand does not, for its question is still the
// task's status; so one that repeats an earlier answer, id and all, is told
// from it.
func answersQuestion(said []*a2a.Message) bool {
	if len(said) < 2 || said[len(said)-2] == nil {
		return false
	}
	_, yes := questionID(said[len(said)-2])
	return yes
}

func questionOf(t *a2a.Task) (Question, bool) {
	if t == nil || t.Status.Message == nil {
		return Question{}, false
	}
	if s := t.Status.State; s != a2a.TaskStateInputRequired && s != a2a.TaskStateAuthRequired {
		return Question{}, false
	}
	c := contentOf(t.Status.Message)
	q := Question{Prompt: c.text}
	for _, d := range c.data {
		if m, ok := d.(map[string]any); ok {
			q.Data = cloneMap(m)
			break
		}
	}
	return q, true
}

func cloneTask(t *a2a.Task) *a2a.Task {
	if t == nil {
		return nil
	}
	c := *t
	c.Metadata = cloneMap(t.Metadata)
	c.Status.Message = cloneMessage(t.Status.Message)
	if at := t.Status.Timestamp; at != nil {
		timestamp := *at
		c.Status.Timestamp = &timestamp
	}
	c.History = nil
	for _, m := range t.History {
		c.History = append(c.History, cloneMessage(m))
	}
	c.Artifacts = nil
	for _, a := range t.Artifacts {
		c.Artifacts = append(c.Artifacts, cloneArtifact(a))
	}
	return &c
}

func cloneArtifact(a *a2a.Artifact) *a2a.Artifact {
	if a == nil {
		return nil
	}
	c := *a
	c.Extensions = slices.Clone(a.Extensions)
	c.Metadata = cloneMap(a.Metadata)
	c.Parts = cloneParts(a.Parts)
	return &c
}

func cloneMessage(m *a2a.Message) *a2a.Message {
	if m == nil {
		return nil
	}
	c := *m
	c.Extensions = slices.Clone(m.Extensions)
	c.ReferenceTasks = slices.Clone(m.ReferenceTasks)
	c.Metadata = cloneMap(m.Metadata)
	c.Parts = cloneParts(m.Parts)
	return &c
}

func cloneParts(ps a2a.ContentParts) a2a.ContentParts {
	var out a2a.ContentParts
	for _, p := range ps {
		if p == nil {
			continue
		}
		c := *p
		c.Metadata = cloneMap(p.Metadata)
		switch v := p.Content.(type) {
		case a2a.Raw:
			c.Content = a2a.Raw(bytes.Clone(v))
		case a2a.Data:
			c.Content = a2a.Data{Value: cloneAny(v.Value)}
		}
		out = append(out, &c)
	}
	return out
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		out[k] = cloneAny(e)
	}
	return out
}

func cloneList(s []any) []any {
	out := make([]any, len(s))
	for i, e := range s {
		out[i] = cloneAny(e)
	}
	return out
}

// cloneAny copies plain JSON types, which is what crosses the wire. Anything
// else, as a test may pass, becomes plain.
func cloneAny(v any) any {
	switch v := v.(type) {
	case nil, string, bool, float64, int64:
		return v
	case map[string]any:
		return cloneMap(v)
	case []any:
		return cloneList(v)
	default:
		out, _ := plain.Value(v)
		return out
	}
}

// answersIn reads the conversation for questions and the messages that followed
// them.
func answersIn(t *a2a.Task, current *a2a.Message) map[string]any {
	answers := map[string]any{}
	if t == nil {
		return answers
	}
	open := ""
	for _, m := range append(historyBefore(t, current), current) {
		if m == nil {
			continue
		}
		if id, isQuestion := questionID(m); isQuestion {
			open = id
			continue
		}
		if open != "" && m.Role == a2a.MessageRoleUser {
			answers[open] = answerOf(m)
			open = ""
		}
	}
	return answers
}

// memosIn are the memos that the task's questions left, by their ids. Only the
// server writes a task's metadata.
func memosIn(t *a2a.Task) map[string]any {
	if t == nil {
		return nil
	}
	memos, _ := t.Metadata[hitl.MemoKey].(map[string]any)
	return memos
}

// wasKept reports whether a flow's run was in its store when the task was parked.
func wasKept(t *a2a.Task, run string) bool {
	_, kept := memosIn(t)[run]
	return kept
}

// questionID is the id in a question's data part.
func questionID(m *a2a.Message) (string, bool) {
	if m.Role != a2a.MessageRoleAgent {
		return "", false
	}
	for _, p := range m.Parts {
		data, ok := p.Data().(map[string]any)
		schema := p.Meta()["schema"]
		if !ok || schema != hitl.Schema && schema != hitl.SchemaAuth {
			continue
		}
		id, ok := data["id"].(string)
		return id, ok
	}
	return "", false
}

// answerOf is what a message says: its first data part, its text without one.
func answerOf(m *a2a.Message) any {
	c := contentOf(m)
	if len(c.data) > 0 {
		return cloneAny(c.data[0])
	}
	return c.text
}
