package executor

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/plain"
)

// cloneTask gives a copy that shares nothing that can change. Values come out
// plain: what JSON cannot express is left out. The host's own copying, by
// encoding/gob, takes many times as long.
func cloneTask(t *a2a.Task) *a2a.Task {
	c := *t
	c.Status.Message = cloneMessage(t.Status.Message)
	if t.Status.Timestamp != nil {
		at := *t.Status.Timestamp
		c.Status.Timestamp = &at
	}
	c.History = cloneEach(t.History, cloneMessage)
	c.Artifacts = cloneEach(t.Artifacts, cloneArtifact)
	c.Metadata = cloneMap(t.Metadata)
	return &c
}

func cloneEach[S ~[]*E, E any](in S, clone func(*E) *E) S {
	if in == nil {
		return nil
	}
	out := make(S, len(in))
	for i, e := range in {
		out[i] = clone(e)
	}
	return out
}

func cloneMessage(m *a2a.Message) *a2a.Message {
	if m == nil {
		return nil
	}
	c := *m
	c.Parts = cloneEach(m.Parts, clonePart)
	c.Metadata = cloneMap(m.Metadata)
	c.Extensions = slices.Clone(m.Extensions)
	c.ReferenceTasks = slices.Clone(m.ReferenceTasks)
	return &c
}

func cloneArtifact(a *a2a.Artifact) *a2a.Artifact {
	if a == nil {
		return nil
	}
	c := *a
	c.Parts = cloneEach(a.Parts, clonePart)
	c.Metadata = cloneMap(a.Metadata)
	c.Extensions = slices.Clone(a.Extensions)
	return &c
}

func clonePart(p *a2a.Part) *a2a.Part {
	if p == nil {
		return nil
	}
	c := *p
	c.Metadata = cloneMap(p.Metadata)
	switch v := p.Content.(type) {
	case a2a.Raw:
		c.Content = a2a.Raw(append([]byte{}, v...)) // never nil: an empty file is one too
	case a2a.Data:
		c.Content = a2a.Data{Value: cloneValue(v.Value)}
	}
	return &c
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := cloneValue(m).(map[string]any)
	return out
}

// cloneValue copies a JSON value. A nil array, which is what the host's copying
// makes of an empty one, is an empty one.
func cloneValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string, float64, int64:
		return v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneValue(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = cloneValue(e)
		}
		return out
	default:
		out, _ := plain.Value(v)
		return out
	}
}
