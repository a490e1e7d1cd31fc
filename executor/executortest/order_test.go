package executortest_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/executor/executortest"
)

var info = a2a.TaskInfo{TaskID: "t", ContextID: "c"}

func task(state a2a.TaskState, artifacts ...*a2a.Artifact) *a2a.Task {
	return &a2a.Task{ID: info.TaskID, ContextID: info.ContextID, Status: a2a.TaskStatus{State: state}, Artifacts: artifacts}
}

func status(state a2a.TaskState) *a2a.TaskStatusUpdateEvent {
	return &a2a.TaskStatusUpdateEvent{TaskID: info.TaskID, ContextID: info.ContextID, Status: a2a.TaskStatus{State: state}}
}

func says(state a2a.TaskState, text string) *a2a.TaskStatusUpdateEvent {
	ev := status(state)
	ev.Status.Message = &a2a.Message{ID: "m-" + text, Role: a2a.MessageRoleAgent, Parts: a2a.ContentParts{a2a.NewTextPart(text)}}
	return ev
}

func artifact(id a2a.ArtifactID, texts ...string) *a2a.Artifact {
	a := &a2a.Artifact{ID: id}
	for _, s := range texts {
		a.Parts = append(a.Parts, a2a.NewTextPart(s))
	}
	return a
}

func chunk(id a2a.ArtifactID, appends, last bool, texts ...string) *a2a.TaskArtifactUpdateEvent {
	return &a2a.TaskArtifactUpdateEvent{
		TaskID: info.TaskID, ContextID: info.ContextID,
		Artifact: artifact(id, texts...), Append: appends, LastChunk: last,
	}
}

const (
	working   = a2a.TaskStateWorking
	completed = a2a.TaskStateCompleted
)

func TestCheckOrder(t *testing.T) {
	t.Parallel()
	elsewhere := status(completed)
	elsewhere.TaskID = "another"
	otherContext := chunk("a", false, true, "x")
	otherContext.ContextID = "another"
	noArtifact := chunk("a", false, true)
	noArtifact.Artifact = nil
	cases := []struct {
		name   string
		events []a2a.Event
		says   string // "": legal
	}{
		{"nothing", nil, "no event"},
		{"one final task", []a2a.Event{task(completed)}, ""},
		{"one message", []a2a.Event{&a2a.Message{}}, ""},
		{"a task and its end", []a2a.Event{task(working), status(completed)}, ""},
		{"every final state", []a2a.Event{task(working), status(a2a.TaskStateFailed)}, ""},
		{"canceled", []a2a.Event{task(working), status(a2a.TaskStateCanceled)}, ""},
		{"rejected", []a2a.Event{task(working), status(a2a.TaskStateRejected)}, ""},
		{"parked for input", []a2a.Event{task(working), status(a2a.TaskStateInputRequired)}, ""},
		{"parked for authentication", []a2a.Event{task(working), status(a2a.TaskStateAuthRequired)}, ""},
		{"progress", []a2a.Event{task(working), says(working, "half way"), status(completed)}, ""},
		{
			"artifacts side by side",
			[]a2a.Event{
				task(working), chunk("a", false, false, "1"), chunk("b", false, false, "2"), chunk("a", true, true, "3"),
				chunk("b", true, true, "4"), chunk("c", false, true, "5"), status(completed),
			},
			"",
		},
		{"an artifact that was never closed", []a2a.Event{task(working), chunk("a", false, false, "1"), status(completed)}, ""},
		{"a stored artifact and a new one", []a2a.Event{task(working, artifact("old", "x"), nil), chunk("a", false, true, "1"), status(completed)}, ""},
		{"a subscription that begins amid an artifact", []a2a.Event{task(working, artifact("a", "1")), chunk("a", true, true, "2"), status(completed)}, ""},
		{"a snapshot that drops the artifacts", []a2a.Event{task(working), chunk("a", false, false, "1"), task(working), status(a2a.TaskStateFailed)}, ""},

		{"no task at first", []a2a.Event{status(completed)}, "event 0: the first event is a *a2a.TaskStatusUpdateEvent, expected the task"},
		{"an artifact at first", []a2a.Event{chunk("a", false, true, "1"), task(completed)}, "event 0: the first event"},
		{"a message before more", []a2a.Event{&a2a.Message{TaskID: "t", ContextID: "c"}, status(completed)}, "event 0: the first event is a *a2a.Message"},
		{"a message among events", []a2a.Event{task(working), &a2a.Message{TaskID: "t", ContextID: "c"}, status(completed)}, "event 1: a *a2a.Message"},
		{"no end", []a2a.Event{task(working), chunk("a", false, true, "1")}, "event 1: is the last and not final"},
		{"only a working task", []a2a.Event{task(working)}, "event 0: is the last and not final"},
		{"the last of several is not final", []a2a.Event{task(working), status(completed), status(working)}, "event 2: is the last and not final"},
		{"two ends", []a2a.Event{task(working), status(a2a.TaskStateFailed), status(completed)}, "event 1: is final (TASK_STATE_FAILED) and not the last"},
		{"an artifact after the end", []a2a.Event{task(working), status(completed), chunk("a", false, true, "1")}, "event 1: is final"},
		{"work after a question", []a2a.Event{task(working), status(a2a.TaskStateInputRequired), status(completed)}, "event 1: is final (TASK_STATE_INPUT_REQUIRED)"},
		{"a final task and more", []a2a.Event{task(completed), status(completed)}, "event 0: is final"},
		{"of another task", []a2a.Event{task(working), elsewhere}, "event 1: is of"},
		{"of another context", []a2a.Event{task(working), otherContext, status(completed)}, "event 1: is of"},
		{"appends to an unknown artifact", []a2a.Event{task(working), chunk("a", true, true, "1"), status(completed)}, "event 1: appends to the unknown artifact a"},
		{"appends to a dropped artifact", []a2a.Event{task(working), chunk("a", false, false, "1"), task(working), chunk("a", true, true, "2"), status(completed)}, "event 3: appends to the unknown artifact a"},
		{"starts over", []a2a.Event{task(working), chunk("a", false, false, "1"), chunk("a", false, true, "2"), status(completed)}, "event 2: starts artifact a over"},
		{"starts a stored artifact over", []a2a.Event{task(working, artifact("a", "1")), chunk("a", false, true, "2"), status(completed)}, "event 1: starts artifact a over"},
		{"a chunk after the last one", []a2a.Event{task(working), chunk("a", false, true, "1"), chunk("a", true, false, "2"), status(completed)}, "event 2: a chunk of artifact a after its last one"},
		{"the same across a snapshot", []a2a.Event{task(working), chunk("a", false, true, "1"), task(working, artifact("a", "1")), chunk("a", true, false, "2"), status(completed)}, "event 3: a chunk of artifact a after its last one"},
		{"a chunk without parts", []a2a.Event{task(working), chunk("a", false, true), status(completed)}, "event 1: an artifact update without parts"},
		{"a chunk without an artifact", []a2a.Event{task(working), noArtifact, status(completed)}, "event 1: an artifact update without parts"},
		{"nil", []a2a.Event{task(working), nil, status(completed)}, "event 1: is nil"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := executortest.CheckOrder(tc.events)
			if (err != nil) != (tc.says != "") {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				wantText(t, err.Error(), tc.says)
			}
		})
	}
}

func TestCheckOrderReportsEveryFault(t *testing.T) {
	t.Parallel()
	err := executortest.CheckOrder([]a2a.Event{status(working), chunk("a", true, false), chunk("b", true, false, "1")})
	if err == nil {
		t.Fatal("no error")
	}
	wantText(t, err.Error(), "event 0: the first event", "event 1: an artifact update without parts",
		"event 2: appends to the unknown artifact b", "event 2: is the last and not final")
}

func TestCheckStored(t *testing.T) {
	t.Parallel()
	stored := func(ev *a2a.TaskStatusUpdateEvent, artifacts ...*a2a.Artifact) *a2a.Task {
		out := task(ev.Status.State, artifacts...)
		out.Status = ev.Status
		return out
	}
	noArtifact := chunk("a", false, true)
	noArtifact.Artifact = nil
	renamed := artifact("a", "1")
	renamed.Name = "renamed"
	cases := []struct {
		name   string
		events []a2a.Event
		stored *a2a.Task
		says   []string // none: they agree
	}{
		{"state", []a2a.Event{task(working), status(completed)}, task(completed), nil},
		{"status message", []a2a.Event{task(working), says(completed, "done")}, stored(says(completed, "done")), nil},
		{"progress is not the end", []a2a.Event{task(working), says(working, "p"), status(completed)}, task(completed), nil},
		{"the task alone", []a2a.Event{task(completed, artifact("a", "1"))}, task(completed, artifact("a", "1")), nil},
		{
			"artifacts put together",
			[]a2a.Event{
				task(working, artifact("old", "0")), chunk("a", false, false, "1"), chunk("b", false, true, "2"),
				chunk("a", true, true, "3"), chunk("old", true, true, "4"), status(completed),
			},
			task(completed, artifact("old", "0", "4"), artifact("a", "1", "3"), artifact("b", "2")), nil,
		},
		{
			"an artifact told anew",
			[]a2a.Event{task(working, nil), chunk("a", false, false, "1"), chunk("a", false, true, "2"), status(completed)},
			task(completed, nil, artifact("a", "2")), nil,
		},
		{
			"a snapshot that drops the artifacts",
			[]a2a.Event{task(working), chunk("a", false, false, "1"), task(working), status(completed)},
			task(completed), nil,
		},
		{"an update without an artifact tells nothing", []a2a.Event{task(working), noArtifact, status(completed)}, task(completed), nil},

		{"no task", []a2a.Event{task(completed)}, nil, []string{"no stored task"}},
		{"another state", []a2a.Event{task(working), status(completed)}, task(working), []string{"state: told TASK_STATE_COMPLETED, stored TASK_STATE_WORKING"}},
		{"another message", []a2a.Event{task(working), says(completed, "done")}, stored(says(completed, "other")), []string{"status message: told", "done", "stored", "other"}},
		{"no message", []a2a.Event{task(working), says(completed, "done")}, task(completed), []string{"status message: told", "stored null"}},
		{"a message never told", []a2a.Event{task(working), status(completed)}, stored(says(completed, "done")), []string{"status message: told null"}},
		{"a lost artifact", []a2a.Event{task(working), chunk("a", false, true, "1"), status(completed)}, task(completed), []string{"artifacts: told", `"a"`, "stored []"}},
		{"an artifact never told", []a2a.Event{task(completed)}, task(completed, artifact("a", "1")), []string{"artifacts: told []", `"a"`}},
		{"a lost chunk", []a2a.Event{task(working), chunk("a", false, false, "1"), chunk("a", true, true, "2"), status(completed)}, task(completed, artifact("a", "1")), []string{"artifacts: told", `"12"`}},
		{
			"another order of chunks",
			[]a2a.Event{task(working), chunk("a", false, false, "1"), chunk("a", true, true, "2"), status(completed)},
			task(completed, artifact("a", "2", "1")),
			[]string{"artifacts: told"},
		},
		{
			"another order of artifacts",
			[]a2a.Event{task(working), chunk("a", false, true, "1"), chunk("b", false, true, "2"), status(completed)},
			task(completed, artifact("b", "2"), artifact("a", "1")),
			[]string{"artifacts: told"},
		},
		{"another name", []a2a.Event{task(working), chunk("a", false, true, "1"), status(completed)}, task(completed, renamed), []string{"renamed"}},
		{"what no wire can carry", []a2a.Event{task(completed, &a2a.Artifact{ID: "a", Metadata: map[string]any{"ch": make(chan int)}})}, task(completed), []string{"artifacts", "chan int"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := executortest.CheckStored(tc.events, tc.stored)
			if (err != nil) != (len(tc.says) > 0) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				wantText(t, err.Error(), tc.says...)
			}
		})
	}
}

// Checking does not change what is checked.
func TestCheckStoredLeavesTheEventsAlone(t *testing.T) {
	t.Parallel()
	events := []a2a.Event{task(working, artifact("a", "1")), chunk("a", true, false, "2"), chunk("a", true, true, "3"), status(completed)}
	for range 2 {
		if err := executortest.CheckStored(events, task(completed, artifact("a", "1", "2", "3"))); err != nil {
			t.Fatal(err)
		}
	}
}
