package executortest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// CheckOrder reports every way in which the events of one stream break the
// order that a client may rely on: the task comes first; all events are of one
// task; an artifact's first chunk does not append, a later one does, none is
// empty and none follows its last one; exactly one event is final (terminal or
// interrupted), and it is the last. A stream may begin in the middle of a run,
// as a subscription does: an artifact of the task may go on. One message alone
// is an answer too.
func CheckOrder(events []a2a.Event) error {
	if len(events) == 0 {
		return errors.New("no event")
	}
	if _, ok := events[0].(*a2a.Message); ok && len(events) == 1 {
		return nil
	}
	if at := slices.Index(events, nil); at >= 0 {
		return fmt.Errorf("event %d: is nil", at)
	}
	o := order{info: events[0].TaskInfo(), artifacts: map[a2a.ArtifactID]bool{}}
	if _, ok := events[0].(*a2a.Task); !ok {
		o.fault(0, "the first event is a %T, expected the task", events[0])
	}
	for i, ev := range events {
		o.event(i, ev, i == len(events)-1)
	}
	return errors.Join(o.faults...)
}

type order struct {
	info      a2a.TaskInfo
	artifacts map[a2a.ArtifactID]bool // known; true once complete
	faults    []error
}

func (o *order) fault(i int, format string, args ...any) {
	o.faults = append(o.faults, fmt.Errorf("event %d: %s", i, fmt.Sprintf(format, args...)))
}

func (o *order) event(i int, ev a2a.Event, last bool) {
	if ev.TaskInfo() != o.info {
		o.fault(i, "is of %+v, the first one of %+v", ev.TaskInfo(), o.info)
	}
	var state a2a.TaskState
	switch ev := ev.(type) {
	case *a2a.Task:
		state = ev.Status.State
		o.snapshot(ev)
	case *a2a.TaskStatusUpdateEvent:
		state = ev.Status.State
	case *a2a.TaskArtifactUpdateEvent:
		o.artifact(i, ev)
	default:
		o.fault(i, "a %T among a task's events", ev)
	}
	switch {
	case final(state) && !last:
		o.fault(i, "is final (%s) and not the last", state)
	case last && !final(state):
		o.fault(i, "is the last and not final")
	}
}

// snapshot takes the artifacts of a task for the known ones.
func (o *order) snapshot(t *a2a.Task) {
	known := map[a2a.ArtifactID]bool{}
	for _, a := range t.Artifacts {
		if a != nil {
			known[a.ID] = o.artifacts[a.ID]
		}
	}
	o.artifacts = known
}

func (o *order) artifact(i int, ev *a2a.TaskArtifactUpdateEvent) {
	if ev.Artifact == nil || len(ev.Artifact.Parts) == 0 {
		o.fault(i, "an artifact update without parts")
		return
	}
	id := ev.Artifact.ID
	complete, known := o.artifacts[id]
	switch {
	case ev.Append && !known:
		o.fault(i, "appends to the unknown artifact %s", id)
	case known && complete:
		o.fault(i, "a chunk of artifact %s after its last one", id)
	case known && !ev.Append:
		o.fault(i, "starts artifact %s over", id)
	}
	o.artifacts[id] = ev.LastChunk
}

func final(s a2a.TaskState) bool {
	return s.Terminal() || s == a2a.TaskStateInputRequired || s == a2a.TaskStateAuthRequired
}

// CheckStored reports how the stored task differs from what the events of its
// last run told: its state, its status message, its artifacts. Where the chunks
// of a text are cut is no difference.
func CheckStored(events []a2a.Event, task *a2a.Task) error {
	if task == nil {
		return errors.New("no stored task")
	}
	told := &a2a.Task{}
	for _, ev := range events {
		tell(told, ev)
	}
	var faults []error
	if told.Status.State != task.Status.State {
		faults = append(faults, fmt.Errorf("state: told %s, stored %s", told.Status.State, task.Status.State))
	}
	faults = append(faults, same("status message", told.Status.Message, task.Status.Message))
	if len(told.Artifacts)+len(task.Artifacts) > 0 {
		faults = append(faults, same("artifacts", joined(told.Artifacts), joined(task.Artifacts)))
	}
	return errors.Join(faults...)
}

// tell applies an event to the task as a client would.
func tell(t *a2a.Task, ev a2a.Event) {
	switch ev := ev.(type) {
	case *a2a.Task:
		*t = *ev
		t.Artifacts = slices.Clone(ev.Artifacts)
	case *a2a.TaskStatusUpdateEvent:
		t.Status = ev.Status
	case *a2a.TaskArtifactUpdateEvent:
		if ev.Artifact == nil {
			return
		}
		at := slices.IndexFunc(t.Artifacts, func(a *a2a.Artifact) bool { return a != nil && a.ID == ev.Artifact.ID })
		if at < 0 {
			t.Artifacts = append(t.Artifacts, ev.Artifact)
			return
		}
		merged := *ev.Artifact
		if ev.Append {
			merged = *t.Artifacts[at]
			merged.Parts = append(slices.Clone(merged.Parts), ev.Artifact.Parts...)
		}
		t.Artifacts[at] = &merged
	}
}

// joined gives the artifacts with each run of plain text parts as one text.
func joined(as []*a2a.Artifact) []*a2a.Artifact {
	out := make([]*a2a.Artifact, 0, len(as))
	for _, a := range as {
		if a == nil {
			continue
		}
		c := *a
		c.Parts = nil
		for _, p := range a.Parts {
			if last := len(c.Parts) - 1; last >= 0 && plainText(p) && plainText(c.Parts[last]) {
				p = a2a.NewTextPart(c.Parts[last].Text() + p.Text())
				c.Parts = c.Parts[:last]
			}
			c.Parts = append(c.Parts, p)
		}
		out = append(out, &c)
	}
	return out
}

func plainText(p *a2a.Part) bool {
	if p == nil || len(p.Metadata) > 0 || p.Filename != "" || p.MediaType != "" {
		return false
	}
	_, ok := p.Content.(a2a.Text)
	return ok
}

func same(what string, told, stored any) error {
	a, errA := json.Marshal(told)
	b, errB := json.Marshal(stored)
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if string(a) != string(b) {
		return fmt.Errorf("%s: told %s, stored %s", what, a, b)
	}
	return nil
}
