package sqlstore_test

import (
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// TestListIsSortedByStatus: a chunk of an artifact moved a task to the front,
// against A2A v1.0 section 3.1.4.
func TestListIsSortedByStatus(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		tasks, ctx := open(t, dsn).Tasks(), asMe(t.Context())
		at := time.Now().Truncate(time.Millisecond)
		task := func(id string, artifacts ...*a2a.Artifact) *a2a.Task {
			return &a2a.Task{ID: a2a.TaskID(id), ContextID: "c", Status: a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: &at}, Artifacts: artifacts}
		}
		for _, id := range []string{"long", "quick"} {
			if _, err := tasks.Create(ctx, task(id)); err != nil {
				t.Fatal(err)
			}
		}
		check := func(want ...a2a.TaskID) {
			t.Helper()
			res, err := tasks.List(ctx, &a2a.ListTasksRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var got []a2a.TaskID
			for _, listed := range res.Tasks {
				got = append(got, listed.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		chunk := task("long", &a2a.Artifact{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart("x")}})
		if _, err := tasks.Update(ctx, &taskstore.UpdateRequest{Task: chunk, Event: chunk}); err != nil {
			t.Fatal(err)
		}
		check("quick", "long")
		at = at.Add(time.Second)
		if _, err := tasks.Update(ctx, &taskstore.UpdateRequest{Task: chunk, Event: chunk}); err != nil {
			t.Fatal(err)
		}
		check("long", "quick")
	})
}
