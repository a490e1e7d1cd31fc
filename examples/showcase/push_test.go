package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// delivery is one push notification.
type delivery struct{ token, id, state string }

// receiver gets push notifications.
func receiver(t *testing.T) (url string, got <-chan delivery) {
	t.Helper()
	all := make(chan delivery, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		type status struct{ State string }
		var event struct {
			Task *struct {
				ID     string
				Status status
			}
			StatusUpdate *struct {
				TaskID string
				Status status
			}
		}
		if err := json.Unmarshal(body, &event); err != nil {
			t.Errorf("a push notification is %q: %v", body, err)
		}
		token := r.Header.Get("X-A2A-Notification-Token")
		switch {
		case event.Task != nil:
			all <- delivery{token, event.Task.ID, event.Task.Status.State}
		case event.StatusUpdate != nil:
			all <- delivery{token, event.StatusUpdate.TaskID, event.StatusUpdate.Status.State}
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, all
}

// TestReceiversOutliveTheProgram: who is to be told of a task is still told when
// the program was killed meanwhile: of the end of a run that was lost, and of a
// parked task that goes on.
func TestReceiversOutliveTheProgram(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		s := newServer(t, dsn)
		url, got := receiver(t)
		defer func() { s.kill() }()
		s.start(t)
		runs := begin(t, s.client, "slow 600", &a2a.PushConfig{URL: url, Token: "run"})
		asks := begin(t, s.client, "ask", nil)
		config, err := s.client.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: asks.ID, ID: "mine", URL: url, Token: "question"})
		if err != nil {
			t.Fatal(err)
		}
		rest(t, s, asks.ID)
		s.kill()
		s.start(t)
		await(t, got, delivery{"run", string(runs.ID), "TASK_STATE_FAILED"})
		kept, err := s.client.GetTaskPushConfig(t.Context(), &a2a.GetTaskPushConfigRequest{TaskID: asks.ID, ID: config.ID})
		if err != nil || kept.URL != url || kept.Token != "question" {
			t.Errorf("kept is %+v, %v", kept, err)
		}
		answer := a2a.NewMessageForTask(a2a.MessageRoleUser, asks, a2a.NewTextPart("42"))
		if _, err := s.client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: answer}); err != nil {
			t.Fatal(err)
		}
		await(t, got, delivery{"question", string(asks.ID), "TASK_STATE_COMPLETED"})
		// With -store nobody could list tasks, for nobody has a name here.
		if list, err := s.client.ListTasks(t.Context(), &a2a.ListTasksRequest{}); err != nil || list.TotalSize != 2 {
			t.Errorf("listed are %+v, %v", list, err)
		}
	})
}

func begin(t *testing.T, c *a2aclient.Client, text string, receiver *a2a.PushConfig) *a2a.Task {
	t.Helper()
	res, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{
		Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text)),
		Config:  &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: receiver},
	})
	task, ok := res.(*a2a.Task)
	if err != nil || !ok {
		t.Fatalf("%s: got %+v, %v", text, res, err)
	}
	return task
}

// await waits for a push notification; others may come before it.
func await(t *testing.T, got <-chan delivery, want delivery) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case d := <-got:
			if d == want {
				return
			}
			t.Logf("told of %+v", d)
		case <-late:
			t.Fatalf("nothing is told of %+v", want)
		}
	}
}
