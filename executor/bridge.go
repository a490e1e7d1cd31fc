package executor

// The one place of this package that makes a2a tasks, events and parts.

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// openingTask makes the run's first event: the new task, or the stored one
// back at work. It shares messages and artifacts with the host, which nobody
// changes, but no slice and no map.
func openingTask(ec *a2asrv.ExecutorContext, now time.Time) *a2a.Task {
	status := a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: inMillis(&now)}
	if ec.StoredTask == nil {
		return &a2a.Task{ID: ec.TaskID, ContextID: ec.ContextID, Status: status, History: []*a2a.Message{ec.Message}}
	}
	t := *ec.StoredTask
	t.Status = status
	t.Metadata = maps.Clone(t.Metadata)
	t.Artifacts = slices.Clone(t.Artifacts)
	t.History = slices.Clone(t.History)
	// The host has added the answer to the history already (not one that reuses
	// the id of an earlier message), but keeps the question in the status: put
	// them in the order they were said.
	t.History = slices.DeleteFunc(t.History, func(m *a2a.Message) bool { return m == ec.Message })
	if q := ec.StoredTask.Status.Message; q != nil {
		t.History = append(t.History, q)
	}
	if ec.Message != nil {
		t.History = append(t.History, ec.Message)
	}
	return &t
}

// requestOf gives the agent its view of the host's execution context.
func requestOf(ec *a2asrv.ExecutorContext, c call) *agent.Request {
	return agent.NewRequest(agent.RequestInfo{
		Message:             ec.Message,
		Task:                ec.StoredTask,
		TaskID:              string(ec.TaskID),
		ContextID:           ec.ContextID,
		Metadata:            ec.Metadata,
		User:                userOf(ec.User),
		Tenant:              ec.Tenant,
		AcceptedOutputModes: c.outputModes,
		AcceptLanguage:      languageOf(ec.ServiceParams),
		Streaming:           c.streaming,
	})
}

func languageOf(p *a2asrv.ServiceParams) string {
	values, _ := p.Get("accept-language")
	return strings.Join(values, ", ")
}

func userOf(u *a2asrv.User) agent.User {
	if u == nil {
		return agent.User{}
	}
	return agent.User{Name: u.Name, Authenticated: u.Authenticated, Attributes: u.Attributes}
}

// artifactIDs gives each artifact that a run streams an id of its own, so that
// the host never meets an append to an artifact it does not know.
type artifactIDs map[artifactKey]a2a.ArtifactID

type artifactKey struct {
	name   string
	number int
}

func (ids artifactIDs) event(info a2a.TaskInfo, c stream.Chunk) *a2a.TaskArtifactUpdateEvent {
	key := artifactKey{c.Artifact.Name, c.Artifact.Number}
	id, ok := ids[key]
	if !ok {
		id = a2a.NewArtifactID()
		ids[key] = id
	}
	a := &a2a.Artifact{ID: id, Parts: partsOf(c.Parts)}
	if !c.Append {
		a.Name, a.Description = c.Artifact.Name, c.Artifact.Description
		a.Metadata = cloneMap(c.Metadata)
	}
	return &a2a.TaskArtifactUpdateEvent{
		TaskID: info.TaskID, ContextID: info.ContextID,
		Artifact: a, Append: c.Append, LastChunk: c.Last,
	}
}

// artifactsOf makes artifacts, leaving out those without parts.
func artifactsOf(as []agent.Artifact) []*a2a.Artifact {
	var out []*a2a.Artifact
	for _, a := range as {
		parts := partsOf(a.Parts)
		if len(parts) == 0 {
			continue
		}
		na := &a2a.Artifact{ID: a2a.NewArtifactID(), Parts: parts}
		na.Name, na.Description = stream.TextPart(a.Name).Text(), stream.TextPart(a.Description).Text()
		if len(a.Metadata) > 0 {
			na.Metadata = a.Metadata // made plain before, see run.plainly
		}
		out = append(out, na)
	}
	return out
}

// partsOf leaves out a null: clients cannot read a data part without a value.
func partsOf(ps []stream.Part) a2a.ContentParts {
	out := make(a2a.ContentParts, 0, len(ps))
	for _, p := range ps {
		if p.Kind() != stream.KindData || p.Data() != nil {
			out = append(out, partOf(p))
		}
	}
	return out
}

func partOf(p stream.Part) *a2a.Part {
	out := contentOf(p)
	out.Metadata = cloneMap(p.Metadata())
	return out
}

func contentOf(p stream.Part) *a2a.Part {
	switch p.Kind() {
	case stream.KindData:
		dp := a2a.NewDataPart(p.Data())
		dp.MediaType = mediaJSON
		return dp
	case stream.KindFile:
		f := p.File()
		if f.URI != "" {
			return &a2a.Part{Content: a2a.URL(f.URI), Filename: f.Name, MediaType: f.MediaType}
		}
		return &a2a.Part{Content: a2a.Raw(f.Bytes), Filename: f.Name, MediaType: f.MediaType}
	default:
		return a2a.NewTextPart(p.Text())
	}
}

const mediaJSON = "application/json"

// statusOf makes the final status of an outcome.
func statusOf(o Outcome, info a2a.TaskInfo, now time.Time) a2a.TaskStatus {
	s := a2a.TaskStatus{Timestamp: inMillis(&now)}
	switch o.State {
	case Completed:
		s.State = a2a.TaskStateCompleted
		s.Message = noteOf(o.result, info, "")
	case Rejected:
		s.State = a2a.TaskStateRejected
		s.Message = noteOf(o.result, info, "The agent declined the task.")
	case Canceled:
		s.State = a2a.TaskStateCanceled
	case InputRequired, AuthRequired: // see park.go
		s.State = a2a.TaskStateInputRequired
		s.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, info, questionParts(o.interrupt)...)
	case Failed:
		s.State = a2a.TaskStateFailed
		s.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, info, o.Data.Parts()...)
	}
	return s
}

func noteOf(r *agent.Result, info a2a.TaskInfo, general string) *a2a.Message {
	note := general
	if r != nil && r.Note != "" {
		note = r.Note
	}
	if note == "" {
		return nil
	}
	return a2a.NewMessageForTask(a2a.MessageRoleAgent, info, partOf(stream.TextPart(note)))
}

func questionParts(i *hitl.Interrupt) []*a2a.Part {
	data := a2a.NewDataPart(i.Data())
	data.MediaType = mediaJSON
	data.SetMeta("schema", i.Schema())
	return []*a2a.Part{a2a.NewTextPart(i.Prompt()), data}
}

func progressEvent(info a2a.TaskInfo, text string) *a2a.TaskStatusUpdateEvent {
	return a2a.NewStatusUpdateEvent(info, a2a.TaskStateWorking,
		a2a.NewMessageForTask(a2a.MessageRoleAgent, info, a2a.NewTextPart(text)))
}
