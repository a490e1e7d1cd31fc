package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// task makes a small task. Times of statuses are in milliseconds (A2A v1.0
// section 5.6.1).
func task(state a2a.TaskState) *a2a.Task {
	now := time.Now().Truncate(time.Millisecond)
	t := &a2a.Task{ID: a2a.NewTaskID(), ContextID: a2a.NewContextID(), Status: a2a.TaskStatus{State: state, Timestamp: &now}}
	t.History = []*a2a.Message{a2a.NewMessageForTask(a2a.MessageRoleUser, t, a2a.NewTextPart("hello"))}
	return t
}

// taskAt makes a small task with the time of its status.
func taskAt(at time.Time) *a2a.Task {
	t := task(a2a.TaskStateWorking)
	t.Status.Timestamp = &at
	return t
}

// full makes a task with something in every field.
func full() *a2a.Task {
	t := task(a2a.TaskStateInputRequired)
	question := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, a2a.NewTextPart("Which?"), a2a.NewDataPart(map[string]any{"id": "q"}))
	question.Parts[1].SetMeta("schema", "x/v1")
	question.Extensions = []string{"https://example.com/ext"}
	question.ReferenceTasks = []a2a.TaskID{a2a.NewTaskID()}
	question.SetMeta("k", "v")
	t.Status.Message = question
	t.Metadata = map[string]any{"n": 1.5, "nested": map[string]any{"list": []any{true, nil, "x"}}}
	t.Artifacts = []*a2a.Artifact{{
		ID: a2a.NewArtifactID(), Name: "report", Description: "what it is", Extensions: []string{"https://example.com/ext"},
		Metadata: map[string]any{"node": "a"},
		Parts: a2a.ContentParts{
			{Content: a2a.Text("text"), MediaType: "text/plain", Metadata: map[string]any{"lang": "en"}},
			{Content: a2a.Raw("\x00\xff\n"), Filename: "a.bin", MediaType: "application/octet-stream"},
			{Content: a2a.URL("https://example.com/a.pdf"), Filename: "a.pdf"},
			a2a.NewDataPart([]any{"a", 2.0, false}),
			a2a.NewDataPart("only a string"),
		},
	}}
	return t
}

// odd is content that is easily lost.
func odd() map[string]any {
	deep := any("bottom")
	for range 90 {
		deep = map[string]any{"down": []any{deep}}
	}
	return map[string]any{
		"unicode":  "ünï ∞ 漢字 👩‍👩‍👧 \u202e \u0000 \u2028",
		"quotes":   `it's "quoted"; -- \ <b>&amp;`,
		"empty":    map[string]any{"text": "", "object": map[string]any{}},
		"null":     nil,
		"":         "an empty key",
		"large":    int64(9_007_199_254_740_993),
		"negative": int64(-9_007_199_254_740_993),
		"most":     int64(1<<63 - 1),
		"float":    0.1,
		"huge":     1e300,
		"tiny":     5e-324,
		"deep":     deep,
		"long":     strings.Repeat("0123456789", 20_000),
		"list":     []any{[]any{[]any{1.0}}, true, nil},
		"no list":  []any{},
	}
}

// oddParts are parts that are easily lost.
func oddParts() a2a.ContentParts {
	return a2a.ContentParts{
		a2a.NewTextPart(""),
		a2a.NewTextPart(strings.Repeat("x", 1<<20)),
		a2a.NewRawPart(bytes.Repeat([]byte{0, 1, 0xfe, 0xff}, 1<<20)),
		a2a.NewDataPart(odd()),
		a2a.NewDataPart(0.0),
		a2a.NewDataPart(false),
		a2a.NewDataPart(""),
	}
}

// same tells what differs between two tasks. What the host's copying does to a
// task before any store sees it is no difference: an empty list is a nil one.
func same(got, want *a2a.Task) error {
	switch {
	case got.ID != want.ID || got.ContextID != want.ContextID:
		return fmt.Errorf("got task %q of context %q, want %q of %q", got.ID, got.ContextID, want.ID, want.ContextID)
	case got.Status.State != want.Status.State:
		return fmt.Errorf("got state %s, want %s", got.Status.State, want.Status.State)
	case !sameTime(got.Status.Timestamp, want.Status.Timestamp):
		return fmt.Errorf("got time %v, want %v", got.Status.Timestamp, want.Status.Timestamp)
	}
	return errors.Join(
		differ("status message", got.Status.Message, want.Status.Message),
		differ("history", got.History, want.History),
		differ("artifacts", got.Artifacts, want.Artifacts),
		differ("metadata", got.Metadata, want.Metadata),
	)
}

func sameTime(a, b *time.Time) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

func differ(what string, got, want any) error {
	if equal(reflect.ValueOf(got), reflect.ValueOf(want)) {
		return nil
	}
	return fmt.Errorf("%s: got %s, want %s", what, brief(got), brief(want))
}

// equal is reflect.DeepEqual, for which nothing in a list or map is the same as
// no list or map.
func equal(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem())
	case reflect.Slice:
		return a.Len() == b.Len() && equalElems(a, b)
	case reflect.Map:
		return a.Len() == b.Len() && equalEntries(a, b)
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Equal(b)
	}
}

func equalElems(a, b reflect.Value) bool {
	if a.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	for i := range a.Len() {
		if !equal(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func equalEntries(a, b reflect.Value) bool {
	for _, k := range a.MapKeys() {
		if other := b.MapIndex(k); !other.IsValid() || !equal(a.MapIndex(k), other) {
			return false
		}
	}
	return true
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.300s", text)
}
