package executor

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// BenchmarkMemory tells how much memory a store holds after so many trivial
// tasks have finished, and how long each took.
func BenchmarkMemory(b *testing.B) {
	stores := map[string]func() taskstore.Store{
		"host": func() taskstore.Store {
			return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})
		},
		"own": func() taskstore.Store { return memory(defaultKeepAge, defaultKeepNumber) },
	}
	for _, name := range []string{"host", "own"} {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("store=%s/tasks=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					s := stores[name]()
					before := heap()
					begun := time.Now()
					for i := range n {
						finishTrivially(b, s, fmt.Sprintf("task-%d", i))
					}
					b.ReportMetric(float64(time.Since(begun).Nanoseconds())/float64(n), "ns/task")
					b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
					runtime.KeepAlive(s)
				}
			})
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// finishTrivially stores what a blocking call stores.
func finishTrivially(b *testing.B, s taskstore.Store, id string) {
	b.Helper()
	now := time.Now()
	task := &a2a.Task{
		ID: a2a.TaskID(id), ContextID: "ctx-" + id, Status: a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: &now},
		History: []*a2a.Message{{ID: "m-" + id, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("hi " + id)}}},
	}
	v, err := s.Create(as("u"), task)
	if err != nil {
		b.Fatal(err)
	}
	task.Status.State = a2a.TaskStateCompleted
	task.Artifacts = []*a2a.Artifact{{ID: a2a.ArtifactID("a-" + id), Parts: a2a.ContentParts{a2a.NewTextPart("ok " + id)}}}
	if _, err := s.Update(as("u"), &taskstore.UpdateRequest{Task: task, Event: task, PrevVersion: v}); err != nil {
		b.Fatal(err)
	}
}
