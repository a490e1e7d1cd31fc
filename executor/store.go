package executor

import (
	"context"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// watchedStore tells when a task has been stored, and gives it back as it was
// written. The host takes events into a pipe, so that an event was taken does
// not mean that a client can find the task.
//
// The store is the user's, and the host calls it from goroutines in which a
// panic would end the program: a panic becomes an error here.
type watchedStore struct {
	taskstore.Store
	exec *agentExecutor
}

// Create implements taskstore.Store.
func (s watchedStore) Create(ctx context.Context, task *a2a.Task) (v taskstore.TaskVersion, err error) {
	defer s.contain(ctx, &err)
	r := s.exec.find(task.ID)
	defer r.write()()
	task.Status = told(task.Status)
	v, err = s.Store.Create(r.withRequest(ctx), task)
	if err == nil {
		s.exec.stored(task)
		return v, nil
	}
	s.exec.unstored(ctx, task.ID, err)
	return v, away(ctx, err)
}

// Update implements taskstore.Store. What the host fails by itself is stored
// with a message that says so.
func (s watchedStore) Update(ctx context.Context, req *taskstore.UpdateRequest) (v taskstore.TaskVersion, err error) {
	defer s.contain(ctx, &err)
	r := s.exec.find(req.Task.ID)
	if r != nil && r.isLost() {
		return v, fmt.Errorf("%w: %w", taskstore.ErrConcurrentModification, errLeaseLost)
	}
	if invented(r, req.Task) {
		return v, errInvented
	}
	defer r.write()()
	compact(req)
	s.exec.completeFailure(req.Task)
	req.Task.Status = told(req.Task.Status)
	if req.Task.Status.State.Terminal() && keeps(req.Task.Metadata) {
		req.Task.Metadata = metadataWithoutKept(req.Task.Metadata)
	}
	v, err = s.Store.Update(r.withRequest(ctx), req)
	if err == nil {
		s.exec.stored(req.Task)
		if r == nil && req.Task.Status.State == a2a.TaskStateCanceled {
			s.exec.release(ctx, req.Task) // and not when it is to be: that may not come true
		}
		return v, nil
	}
	s.exec.unstored(ctx, req.Task.ID, err)
	return v, away(ctx, err)
}

// Get implements taskstore.Store. It gives the task as it was written; see
// restore.
func (s watchedStore) Get(ctx context.Context, id a2a.TaskID) (st *taskstore.StoredTask, err error) {
	defer s.contain(ctx, &err)
	st, err = s.Store.Get(ctx, id)
	if err == nil && theirs(ctx, st) {
		return nil, a2a.ErrTaskNotFound
	}
	if err == nil && st != nil {
		restore(st.Task)
	}
	return st, away(ctx, err)
}

// List implements taskstore.Store. It gives the tasks as they were written;
// see restore.
func (s watchedStore) List(ctx context.Context, req *a2a.ListTasksRequest) (res *a2a.ListTasksResponse, err error) {
	defer s.contain(ctx, &err)
	res, err = s.Store.List(ctx, req)
	if err == nil && res != nil {
		for _, t := range res.Tasks {
			restore(t)
		}
	}
	return res, away(ctx, err)
}

// write counts a write of the run's task, which ends when the function that it
// returns is called. A nil run counts nothing.
func (r *run) write() (end func()) {
	if r == nil {
		return func() {}
	}
	r.known.Lock()
	defer r.known.Unlock()
	r.writes++
	r.writing++
	return func() {
		r.known.Lock()
		defer r.known.Unlock()
		r.writing--
	}
}

// withRequest gives the context in which the run's first event is stored: with
// what is to be kept of the request.
func (r *run) withRequest(ctx context.Context) context.Context {
	if r == nil || r.keep == "" {
		return ctx
	}
	select {
	case <-r.published:
		return ctx
	default:
		return context.WithValue(ctx, requestKey{}, r.keep)
	}
}

// quiet tells how many writes of the run's task there were, and whether what is
// stored of it is known: the first event is, the ending is not, and nothing is being written.
func (r *run) quiet() (writes int, ok bool) {
	select {
	case <-r.published:
	default:
		return 0, false
	}
	r.known.Lock()
	defer r.known.Unlock()
	return r.writes, r.writing == 0 && !atRest(r.state)
}

func (s watchedStore) contain(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		*err = s.exec.panicked(ctx, v)
	}
}

// restore gives a stored task as clients are to see it. The task is the caller's
// own copy; where there is nothing to do it is not written to.
func restore(t *a2a.Task) {
	restoreEmpty(t)
	if t != nil {
		if at := inMillis(t.Status.Timestamp); at != t.Status.Timestamp { // another program stored it
			t.Status.Timestamp = at
		}
	}
}

// restoreEmpty repairs what the host's copying by encoding/gob does to a task:
// an empty array in data becomes a nil one, which clients would read as null,
// and an empty file loses its content. The task is the caller's own copy; one
// that was never copied has nothing to repair, and is not written to.
func restoreEmpty(t *a2a.Task) {
	if t == nil {
		return
	}
	restoreMessage(t.Status.Message)
	for _, m := range t.History {
		restoreMessage(m)
	}
	for _, a := range t.Artifacts {
		if a != nil {
			restoreMap(a.Metadata)
			restoreParts(a.Parts)
		}
	}
	restoreMap(t.Metadata)
}

func restoreMessage(m *a2a.Message) {
	if m != nil {
		restoreMap(m.Metadata)
		restoreParts(m.Parts)
	}
}

func restoreParts(ps a2a.ContentParts) {
	for _, p := range ps {
		if p == nil {
			continue
		}
		restoreMap(p.Metadata)
		switch c := p.Content.(type) {
		case a2a.Raw:
			if c == nil {
				p.Content = a2a.Raw{}
			}
		case a2a.Data:
			if v, changed := restoreValue(c.Value); changed {
				p.Content = a2a.Data{Value: v}
			}
		}
	}
}

func restoreMap(m map[string]any) {
	for k, v := range m {
		if v, changed := restoreValue(v); changed {
			m[k] = v
		}
	}
}

// restoreValue repairs v in place, and reports whether v itself is replaced.
func restoreValue(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		restoreMap(v)
	case []any:
		if v == nil {
			return []any{}, true
		}
		for i, e := range v {
			if e, changed := restoreValue(e); changed {
				v[i] = e
			}
		}
	}
	return v, false
}
