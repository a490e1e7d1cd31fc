package sqlstore

// The one place of this package that turns tasks into text and back. The text
// is that of the A2A JSON format, with what that format cannot express: data
// that is null, an empty URL, a part without content, whole numbers beyond 2^53.

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/plain"
)

type storedTask struct {
	ID        string            `json:"id"`
	ContextID string            `json:"contextId"`
	Status    storedStatus      `json:"status"`
	Artifacts []*storedArtifact `json:"artifacts,omitempty"`
	History   []*storedMessage  `json:"history,omitempty"`
	Metadata  object            `json:"metadata,omitempty"`
}

type storedStatus struct {
	State   a2a.TaskState  `json:"state"`
	Message *storedMessage `json:"message,omitempty"`
	Time    *time.Time     `json:"timestamp,omitempty"`
}

type storedMessage struct {
	ID         string          `json:"messageId"`
	ContextID  string          `json:"contextId,omitempty"`
	TaskID     string          `json:"taskId,omitempty"`
	Role       a2a.MessageRole `json:"role"`
	Parts      []*storedPart   `json:"parts"`
	Extensions []string        `json:"extensions,omitempty"`
	References []a2a.TaskID    `json:"referenceTaskIds,omitempty"`
	Metadata   object          `json:"metadata,omitempty"`
}

type storedArtifact struct {
	ID          string        `json:"artifactId"`
	Name        string        `json:"name,omitempty"`
	Description string        `json:"description,omitempty"`
	Parts       []*storedPart `json:"parts"`
	Extensions  []string      `json:"extensions,omitempty"`
	Metadata    object        `json:"metadata,omitempty"`
}

type storedPart struct {
	Text      *string `json:"text,omitempty"`
	Raw       *[]byte `json:"raw,omitempty"`
	URL       *string `json:"url,omitempty"`
	Data      value   `json:"data,omitzero"`
	Filename  string  `json:"filename,omitempty"`
	MediaType string  `json:"mediaType,omitempty"`
	Metadata  object  `json:"metadata,omitempty"`
}

func encodeTask(t *a2a.Task) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fromTask(t)); err != nil {
		return "", fmt.Errorf("encode task: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func decodeTask(text string) (*a2a.Task, error) {
	var t storedTask
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return nil, fmt.Errorf("decode task: %w", err)
	}
	return t.task(), nil
}

func fromTask(t *a2a.Task) storedTask {
	return storedTask{
		ID: string(t.ID), ContextID: t.ContextID,
		Status:    storedStatus{State: t.Status.State, Message: fromMessage(t.Status.Message), Time: t.Status.Timestamp},
		Artifacts: each(t.Artifacts, fromArtifact), History: each(t.History, fromMessage), Metadata: t.Metadata,
	}
}

func (t *storedTask) task() *a2a.Task {
	return &a2a.Task{
		ID: a2a.TaskID(t.ID), ContextID: t.ContextID,
		Status:    a2a.TaskStatus{State: t.Status.State, Message: t.Status.Message.message(), Timestamp: t.Status.Time},
		Artifacts: each(t.Artifacts, (*storedArtifact).artifact), History: each(t.History, (*storedMessage).message),
		Metadata: t.Metadata,
	}
}

func fromMessage(m *a2a.Message) *storedMessage {
	if m == nil {
		return nil
	}
	return &storedMessage{
		ID: m.ID, ContextID: m.ContextID, TaskID: string(m.TaskID), Role: m.Role, Parts: each(m.Parts, fromPart),
		Extensions: m.Extensions, References: m.ReferenceTasks, Metadata: m.Metadata,
	}
}

func (m *storedMessage) message() *a2a.Message {
	if m == nil {
		return nil
	}
	return &a2a.Message{
		ID: m.ID, ContextID: m.ContextID, TaskID: a2a.TaskID(m.TaskID), Role: m.Role, Parts: each(m.Parts, (*storedPart).part),
		Extensions: m.Extensions, ReferenceTasks: m.References, Metadata: m.Metadata,
	}
}

func fromArtifact(a *a2a.Artifact) *storedArtifact {
	if a == nil {
		return nil
	}
	return &storedArtifact{
		ID: string(a.ID), Name: a.Name, Description: a.Description, Parts: each(a.Parts, fromPart),
		Extensions: a.Extensions, Metadata: a.Metadata,
	}
}

func (a *storedArtifact) artifact() *a2a.Artifact {
	if a == nil {
		return nil
	}
	return &a2a.Artifact{
		ID: a2a.ArtifactID(a.ID), Name: a.Name, Description: a.Description, Parts: each(a.Parts, (*storedPart).part),
		Extensions: a.Extensions, Metadata: a.Metadata,
	}
}

func fromPart(p *a2a.Part) *storedPart {
	if p == nil {
		return nil
	}
	s := &storedPart{Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
	switch c := p.Content.(type) {
	case a2a.Text:
		s.Text = (*string)(&c)
	case a2a.Raw:
		if c == nil {
			c = a2a.Raw{}
		}
		s.Raw = (*[]byte)(&c)
	case a2a.URL:
		s.URL = (*string)(&c)
	case a2a.Data:
		s.Data = value{c.Value, true}
	}
	return s
}

func (s *storedPart) part() *a2a.Part {
	if s == nil {
		return nil
	}
	p := &a2a.Part{Filename: s.Filename, MediaType: s.MediaType, Metadata: s.Metadata}
	switch {
	case s.Text != nil:
		p.Content = a2a.Text(*s.Text)
	case s.Raw != nil:
		p.Content = a2a.Raw(*s.Raw)
	case s.URL != nil:
		p.Content = a2a.URL(*s.URL)
	case s.Data.set:
		p.Content = a2a.Data{Value: s.Data.v}
	}
	return p
}

func each[In, Out any, S ~[]In](in S, f func(In) Out) []Out {
	if in == nil {
		return nil
	}
	out := make([]Out, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// value is any JSON value; it tells a null from no value at all.
type value struct {
	v   any
	set bool
}

// IsZero is for encoding/json.
func (v value) IsZero() bool { return !v.set }

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) { return plain.Marshal(v.v) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(data []byte) (err error) {
	v.v, err = plain.Unmarshal(data)
	v.set = err == nil
	return err
}

// object is a JSON object whose values are like value's.
type object map[string]any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) { return value{v: map[string]any(o)}.MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(data []byte) error {
	var v value
	if err := v.UnmarshalJSON(data); err != nil {
		return err
	}
	m, ok := v.v.(map[string]any)
	if !ok && v.v != nil {
		return fmt.Errorf("expected an object, got %.40s", data)
	}
	*o = m
	return nil
}
