package agent_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/agent"
)

// fullInfo is a request with something in every place.
func fullInfo() agent.RequestInfo {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	nested := func(s string) map[string]any {
		return map[string]any{"s": s, "list": []any{s, map[string]any{"s": s}}, "typed": map[string]string{"s": s}}
	}
	say := func(id string) *a2a.Message {
		data := a2a.NewDataPart(nested(id))
		data.Metadata = nested(id)
		return &a2a.Message{
			ID: id, Role: a2a.MessageRoleUser, Metadata: nested(id),
			Extensions: []string{"ext"}, ReferenceTasks: []a2a.TaskID{"ref"},
			Parts: a2a.ContentParts{a2a.NewTextPart(id), data, a2a.NewRawPart([]byte(id)), a2a.NewFileURLPart("http://f", "text/plain")},
		}
	}
	return agent.RequestInfo{
		Message: say("current"),
		Task: &a2a.Task{
			ID: "t", ContextID: "c", Metadata: nested("task"),
			History:   []*a2a.Message{say("original"), nil},
			Artifacts: []*a2a.Artifact{{ID: "a", Name: "n", Extensions: []string{"ext"}, Metadata: nested("a"), Parts: append(say("a").Parts, nil)}, nil},
			Status:    a2a.TaskStatus{State: a2a.TaskStateInputRequired, Message: say("question"), Timestamp: &at},
		},
		Metadata:            nested("request"),
		User:                agent.User{Attributes: map[string]any{"role": "admin"}},
		AcceptedOutputModes: []string{"text/plain"},
	}
}

// view is everything a request tells.
func view(t *testing.T, req *agent.Request) string {
	t.Helper()
	q, _ := req.Question()
	raw, err := json.Marshal([]any{
		req.Text(), req.Data(), req.Files(), req.Message(), req.Task(), req.History(), req.Original(), q,
		req.User(), req.Metadata(), req.AcceptedOutputModes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// spoil changes whatever can be reached from v.
func spoil(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return
		}
		for k, e := range v {
			spoil(e)
			v[k] = "spoiled"
		}
		v["new"] = "spoiled"
	case []any:
		for i, e := range v {
			spoil(e)
			v[i] = "spoiled"
		}
	case map[string]string:
		for k := range v {
			v[k] = "spoiled"
		}
	}
}

func spoilParts(ps a2a.ContentParts) {
	for i, p := range ps {
		spoil(p.Metadata)
		spoil(p.Data())
		for j := range p.Raw() {
			p.Raw()[j] = 'X'
		}
		*p = a2a.Part{Content: a2a.Text("spoiled")}
		ps[i] = nil
	}
}

func spoilMessage(m *a2a.Message) {
	if m == nil {
		return
	}
	spoil(m.Metadata)
	spoilParts(m.Parts)
	clear(m.Extensions)
	clear(m.ReferenceTasks)
	*m = a2a.Message{ID: "spoiled"}
}

func spoilTask(task *a2a.Task) {
	spoil(task.Metadata)
	spoilMessage(task.Status.Message)
	*task.Status.Timestamp = time.Time{}
	for _, m := range task.History {
		spoilMessage(m)
	}
	for _, a := range task.Artifacts {
		if a != nil {
			spoil(a.Metadata)
			spoilParts(a.Parts)
			clear(a.Extensions)
			*a = a2a.Artifact{ID: "spoiled"}
		}
	}
	clear(task.History)
	clear(task.Artifacts)
}

// spoilers change what one accessor returns.
var spoilers = map[string]func(*agent.Request){
	"Data":    func(r *agent.Request) { spoil(r.Data()) },
	"Files":   func(r *agent.Request) { clear(r.Files()) },
	"Message": func(r *agent.Request) { spoilMessage(r.Message()) },
	"Task":    func(r *agent.Request) { spoilTask(r.Task()) },
	"History": func(r *agent.Request) {
		h := r.History()
		for _, m := range h {
			spoilMessage(m)
		}
		clear(h)
	},
	"Original": func(r *agent.Request) { spoilMessage(r.Original()) },
	"Question": func(r *agent.Request) {
		q, _ := r.Question()
		spoil(q.Data)
	},
	"User":                func(r *agent.Request) { spoil(r.User().Attributes) },
	"Metadata":            func(r *agent.Request) { spoil(r.Metadata()) },
	"AcceptedOutputModes": func(r *agent.Request) { clear(r.AcceptedOutputModes()) },
	"Decode": func(r *agent.Request) {
		var m map[string]any
		_ = r.Decode(&m)
		spoil(m)
	},
}

func TestCopiesAreTheCallers(t *testing.T) {
	t.Parallel()
	for name, spoiler := range spoilers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, untouched := fullInfo(), fullInfo()
			req := agent.NewRequest(info)
			before := view(t, req)
			spoiler(req)
			if diff := cmp.Diff(before, view(t, req)); diff != "" {
				t.Errorf("the request changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(untouched, info); diff != "" {
				t.Errorf("what the request is made of changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRequestIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	info, untouched := fullInfo(), fullInfo()
	req := agent.NewRequest(info)
	before := view(t, req)
	var wg sync.WaitGroup
	for _, spoiler := range spoilers {
		for range 3 {
			wg.Go(func() { spoiler(req) })
		}
	}
	wg.Wait()
	if diff := cmp.Diff(before, view(t, req)); diff != "" {
		t.Errorf("the request changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(untouched, info); diff != "" {
		t.Errorf("what the request is made of changed (-before +after):\n%s", diff)
	}
}
