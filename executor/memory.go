package executor

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// memoryStore is the default task store. It keeps tasks as the host's own
// in-memory store does, each owner seeing their own, but it forgets finished
// ones: those that finished longest ago go first, when there are too many, and
// when they are too old. A task that runs or is parked always stays, and so
// does one that somebody is being served with ([memoryStore.pin]).
//
// There is no goroutine: each operation forgets a few tasks that are due, and
// one that is due but still there is not found. Entries are replaced, never
// changed in place, so that copying happens outside of the lock.
type memoryStore struct {
	owner     taskstore.Authenticator
	age       time.Duration    // 0: no limit
	number    int              // 0: no limit
	forgotten func(a2a.TaskID) // told of each task that was forgotten, without the lock; or nil

	mu      sync.Mutex
	tasks   map[a2a.TaskID]*memoryTask
	owners  map[string]*list.List // each owner's tasks, in the order of their places
	resting *list.List            // finished tasks that nobody is served with, in the order they finished
	pins    map[a2a.TaskID]int
	writes  uint64
	gone    []a2a.TaskID // forgotten since the lock was taken
}

// memoryTask is one task. All but task, which must not be changed, is guarded
// by the store's lock.
type memoryTask struct {
	task    *a2a.Task
	version taskstore.TaskVersion
	owner   string
	written uint64
	at      placed        // orders an owner's tasks
	place   *list.Element // among the owner's
	rest    *list.Element // among the resting, else nil
	since   time.Time     // when it finished; zero while it has not
	end     uint64        // orders the finished
}

// sweep is how many tasks one operation forgets at most for their age. It is
// more than one, so that those that are due grow fewer.
const sweep = 8

func newMemoryStore(owner taskstore.Authenticator, age time.Duration, number int) *memoryStore {
	return &memoryStore{
		owner: owner, age: age, number: number,
		tasks: map[a2a.TaskID]*memoryTask{}, owners: map[string]*list.List{}, resting: list.New(), pins: map[a2a.TaskID]int{},
	}
}

// Create implements taskstore.Store.
func (s *memoryStore) Create(ctx context.Context, task *a2a.Task) (taskstore.TaskVersion, error) {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return taskstore.TaskVersionMissing, err
	}
	kept := cloneTask(task)
	defer s.lock()()
	if s.find(task.ID) != nil {
		return taskstore.TaskVersionMissing, taskstore.ErrTaskAlreadyExists
	}
	e := &memoryTask{owner: owner}
	s.tasks[task.ID] = e
	return s.write(e, kept), nil
}

// Update implements taskstore.Store.
func (s *memoryStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return taskstore.TaskVersionMissing, err
	}
	kept := cloneTask(req.Task)
	defer s.lock()()
	e := s.find(req.Task.ID)
	switch {
	case e == nil || e.owner != owner:
		return taskstore.TaskVersionMissing, a2a.ErrTaskNotFound
	case req.PrevVersion != taskstore.TaskVersionMissing && req.PrevVersion != e.version:
		return taskstore.TaskVersionMissing, taskstore.ErrConcurrentModification
	}
	return s.write(e, kept), nil
}

// Get implements taskstore.Store. A task of somebody else is not found.
func (s *memoryStore) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	unlock := s.lock()
	e := s.find(id)
	if e == nil || e.owner != owner {
		unlock()
		return nil, a2a.ErrTaskNotFound
	}
	st := &taskstore.StoredTask{Task: e.task, Version: e.version, User: e.owner}
	unlock()
	st.Task = cloneTask(st.Task)
	return st, nil
}

func (s *memoryStore) ownerOf(ctx context.Context) (string, error) {
	owner, err := s.owner(ctx)
	if err != nil {
		return "", fmt.Errorf("taskstore auth failed: %w", err)
	}
	return owner, nil
}

// pin keeps a task from being forgotten until the function that it returns is
// called: it is being served to somebody. One that rests already may go all the
// same. The task need not exist yet.
func (s *memoryStore) pin(id a2a.TaskID) (unpin func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins[id]++
	return sync.OnceFunc(func() {
		defer s.lock()()
		s.pins[id]--
		if s.pins[id] > 0 {
			return
		}
		delete(s.pins, id)
		if e := s.find(id); e != nil {
			s.settle(e)
		}
	})
}

// lock gives the function that unlocks. That forgets what is due, and tells of
// it.
func (s *memoryStore) lock() (unlock func()) {
	s.mu.Lock()
	return func() {
		s.forgetDue()
		gone := s.gone
		s.gone = nil
		s.mu.Unlock()
		if s.forgotten == nil {
			return
		}
		for _, id := range gone {
			s.forgotten(id)
		}
	}
}

// The methods below expect the lock to be held.

// find gives a task, nil for one that does not exist. One that is too old goes.
func (s *memoryStore) find(id a2a.TaskID) *memoryTask {
	e := s.tasks[id]
	if e != nil && s.tooOld(e) {
		s.drop(e)
		return nil
	}
	return e
}

func (s *memoryStore) tooOld(e *memoryTask) bool {
	return s.age > 0 && e.rest != nil && time.Since(e.since) >= s.age
}

// write makes task the content of e.
func (s *memoryStore) write(e *memoryTask, task *a2a.Task) taskstore.TaskVersion {
	s.writes++
	e.task, e.written, e.version = task, s.writes, e.version+1
	s.order(e)
	s.settle(e)
	return e.version
}

// settle brings a task to rest, or back to work, as its state has it.
func (s *memoryStore) settle(e *memoryTask) {
	switch {
	case !e.task.Status.State.Terminal():
		if e.rest != nil {
			s.resting.Remove(e.rest)
		}
		e.rest, e.since = nil, time.Time{}
		return
	case e.since.IsZero():
		e.since, e.end = time.Now(), e.written
	}
	if e.rest == nil && s.pins[e.task.ID] == 0 {
		e.rest = s.lie(e)
	}
}

// lie puts a task to rest behind those that finished before it. It steps over
// those alone that finished while the task was still being served.
func (s *memoryStore) lie(e *memoryTask) *list.Element {
	for at := s.resting.Back(); at != nil; at = at.Prev() {
		if entry(at).end < e.end {
			return s.resting.InsertAfter(e, at)
		}
	}
	return s.resting.PushFront(e)
}

func entry(at *list.Element) *memoryTask {
	return at.Value.(*memoryTask) //nolint:errcheck // nothing else is in the lists
}

// forgetDue drops tasks that are too many, and a few that are too old.
func (s *memoryStore) forgetDue() {
	for first := s.resting.Front(); first != nil; first = s.resting.Front() {
		e := entry(first)
		tooMany := s.number > 0 && s.resting.Len() > s.number
		if !tooMany && (len(s.gone) >= sweep || !s.tooOld(e)) {
			return
		}
		s.drop(e)
	}
}

func (s *memoryStore) drop(e *memoryTask) {
	s.resting.Remove(e.rest)
	delete(s.tasks, e.task.ID)
	s.gone = append(s.gone, e.task.ID)
	mine := s.owners[e.owner]
	mine.Remove(e.place)
	if mine.Len() == 0 {
		delete(s.owners, e.owner)
	}
}
