package executor

import (
	"context"
	"iter"
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// objectData makes every data part an object, for the host's gRPC binding
// carries no other: a value that is none is put under "value", and the part's
// metadata says so under "data_part_compat", as the host does for A2A 0.3.
type objectData struct{ a2asrv.RequestHandler }

// SendMessage implements a2asrv.RequestHandler.
func (o objectData) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	res, err := o.RequestHandler.SendMessage(ctx, req)
	if t, ok := res.(*a2a.Task); ok {
		return objectsInTask(t), err
	}
	return res, err
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (o objectData) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return objectsInEvents(o.RequestHandler.SendStreamingMessage(ctx, req))
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (o objectData) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return objectsInEvents(o.RequestHandler.SubscribeToTask(ctx, req))
}

// GetTask implements a2asrv.RequestHandler.
func (o objectData) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	t, err := o.RequestHandler.GetTask(ctx, req)
	return objectsInTask(t), err
}

// CancelTask implements a2asrv.RequestHandler.
func (o objectData) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	t, err := o.RequestHandler.CancelTask(ctx, req)
	return objectsInTask(t), err
}

// ListTasks implements a2asrv.RequestHandler.
func (o objectData) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := o.RequestHandler.ListTasks(ctx, req)
	if err != nil || res == nil {
		return res, err
	}
	out := *res
	out.Tasks = nil
	for _, t := range res.Tasks {
		out.Tasks = append(out.Tasks, objectsInTask(t))
	}
	return &out, nil
}

// The functions below change copies, for events are shared between readers.

func objectsInEvents(events iter.Seq2[a2a.Event, error]) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		for ev, err := range events {
			switch e := ev.(type) {
			case *a2a.Task:
				ev = objectsInTask(e)
			case *a2a.TaskArtifactUpdateEvent:
				c := *e
				c.Artifact = objectsInArtifact(e.Artifact)
				ev = &c
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// objectsInTask covers artifacts and history; status messages, which this
// package makes, hold objects only.
func objectsInTask(t *a2a.Task) *a2a.Task {
	if t == nil {
		return nil
	}
	c := *t
	c.Artifacts = nil
	for _, a := range t.Artifacts {
		c.Artifacts = append(c.Artifacts, objectsInArtifact(a))
	}
	c.History = nil
	for _, m := range t.History {
		c.History = append(c.History, objectsInMessage(m))
	}
	return &c
}

func objectsInMessage(m *a2a.Message) *a2a.Message {
	if m == nil {
		return nil
	}
	c := *m
	c.Parts = objectsInParts(m.Parts)
	return &c
}

func objectsInArtifact(a *a2a.Artifact) *a2a.Artifact {
	if a == nil {
		return nil
	}
	c := *a
	c.Parts = objectsInParts(a.Parts)
	return &c
}

func objectsInParts(ps a2a.ContentParts) a2a.ContentParts {
	out := make(a2a.ContentParts, 0, len(ps))
	for _, p := range ps {
		if p == nil {
			continue
		}
		data, isData := p.Content.(a2a.Data)
		if _, isObject := data.Value.(map[string]any); isData && !isObject {
			c := *p
			c.Content = a2a.Data{Value: map[string]any{"value": data.Value}}
			c.Metadata = maps.Clone(p.Metadata)
			c.SetMeta("data_part_compat", true)
			p = &c
		}
		out = append(out, p)
	}
	return out
}
