package executor

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/finished"
	"github.com/a2aexec/a2aexec/internal/retained"
	"github.com/a2aexec/a2aexec/stream"
)

// ending is what [ending.events] needs to know of a run that is over.
type ending struct {
	outcome  Outcome
	task     *a2a.Task // as published by the run's first event
	blocking bool      // nobody asked for a stream of this run's events
	wrote    bool      // something was published since the first event
	closing  []stream.Chunk
	ids      artifactIDs
	work     finished.Report       // what the run's flows have finished
	fits     func(size int64) bool // whether that much more may be sent
}

// events turns the outcome into the run's last events. No other code ends a
// task. The last event carries the final state; nothing before it does.
//
// A blocking call that published nothing since the task gets one snapshot, for
// the host's cost goes by the number of events.
func (e ending) events(now time.Time) []a2a.Event {
	info := e.task.TaskInfo()
	status := statusOf(e.outcome, info, now)
	if e.outcome.State == Failed && e.outcome.Data.ErrorCode == errcode.GuardrailBlocked {
		return e.blocked(status)
	}
	added := artifactsOf(e.added())
	if e.blocking && !e.wrote && e.outcome.State != Canceled {
		return []a2a.Event{e.snapshot(status, append(slices.Clone(e.task.Artifacts), added...))}
	}
	var out []a2a.Event
	for _, c := range e.closing {
		out = append(out, e.ids.event(info, c))
	}
	for _, a := range added {
		out = append(out, &a2a.TaskArtifactUpdateEvent{
			TaskID: info.TaskID, ContextID: info.ContextID, Artifact: a, LastChunk: true,
		})
	}
	return append(out, &a2a.TaskStatusUpdateEvent{
		TaskID: info.TaskID, ContextID: info.ContextID, Status: status, Metadata: e.metadata(),
	})
}

// added are the artifacts that come with the ending. A task that ends without a
// result has what its flows have finished, whatever its code said, or if it did not.
func (e ending) added() []agent.Artifact {
	var out []agent.Artifact
	if e.outcome.State == Failed || e.outcome.State == Canceled {
		out = e.finished()
	}
	if res := e.outcome.result; res != nil {
		out = append(out, res.Artifacts...)
	}
	return out
}

// metadata is what changes of the task's: a parked task keeps memos of its
// questions, those of earlier ones included, and what its code wants to find
// again, which is forgotten when it ends. Nil if nothing changes.
func (e ending) metadata() map[string]any {
	out := map[string]any{}
	if all, changed := e.memos(); changed {
		out[hitl.MemoKey] = all
	}
	if e.outcome.kept != nil {
		out[retained.Key] = e.outcome.kept
	} else if keeps(e.task.Metadata) {
		out[retained.Key] = map[string]any{}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// memos is what a parked task keeps of its questions, those of earlier ones
// included, and which runs of flows are kept whose question it is not, for its
// id would tell.
func (e ending) memos() (all map[string]any, changed bool) {
	asked := e.outcome.interrupt
	if asked == nil {
		return nil, false
	}
	before := memosOf(e.task)
	all = maps.Clone(before)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, e.outcome.memos)
	for run, kept := range e.work.Kept {
		delete(all, run)
		if kept && !strings.HasPrefix(asked.ID(), run+"/") {
			all[run] = map[string]any{"kept": true}
		}
	}
	return all, len(all)+len(before) > 0 && !reflect.DeepEqual(all, before)
}

// memosOf are the memos that a task keeps of its questions, by their ids.
func memosOf(t *a2a.Task) map[string]any {
	memos, _ := t.Metadata[hitl.MemoKey].(map[string]any)
	return memos
}

// bare is the ending without what should come before.
func (e ending) bare(now time.Time) a2a.Event {
	info := e.task.TaskInfo()
	return &a2a.TaskStatusUpdateEvent{TaskID: info.TaskID, ContextID: info.ContextID, Status: statusOf(e.outcome, info, now)}
}

// blocked ends a run that a guardrail blocked: the stored task keeps neither
// artifacts nor what this run said on the way.
func (e ending) blocked(status a2a.TaskStatus) []a2a.Event {
	if e.blocking && !e.wrote {
		return []a2a.Event{e.snapshot(status, nil)}
	}
	info := e.task.TaskInfo()
	last := &a2a.TaskStatusUpdateEvent{TaskID: info.TaskID, ContextID: info.ContextID, Status: status}
	if !e.wrote && len(e.task.Artifacts) == 0 {
		return []a2a.Event{last}
	}
	return []a2a.Event{e.snapshot(e.task.Status, nil), last}
}

func (e ending) snapshot(status a2a.TaskStatus, artifacts []*a2a.Artifact) *a2a.Task {
	t := *e.task
	t.Status = status
	t.Artifacts = artifacts
	t.History = slices.Clone(t.History)
	if changes := e.metadata(); changes != nil {
		t.Metadata = maps.Clone(t.Metadata)
		if t.Metadata == nil {
			t.Metadata = map[string]any{}
		}
		maps.Copy(t.Metadata, changes)
	}
	return &t
}
