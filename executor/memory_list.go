package executor

import (
	"container/list"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The numbers of A2A v1.0 section 3.1.4, and the host's for the history.
const (
	defaultPage    = 50
	maxPage        = 100
	defaultHistory = 100
)

// List implements taskstore.Store: the caller's tasks, those first whose status
// is the latest (A2A v1.0 section 3.1.4). It looks at all of them, for the answer tells how many match,
// but at nobody else's, and copies one page. A page starts where the one before
// ended, whatever was written or forgotten since; a task whose status has changed
// since has moved to the front and is not in the later pages.
func (s *memoryStore) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	owner, err := s.owner(ctx)
	if owner == "" || err != nil {
		return nil, a2a.ErrUnauthenticated
	}
	size := req.PageSize
	if size == 0 {
		size = defaultPage
	}
	if size < 1 || size > maxPage {
		return nil, fmt.Errorf("page size must be between 1 and %d inclusive, got %d: %w", maxPage, req.PageSize, a2a.ErrInvalidRequest)
	}
	before, err := cursorOf(req.PageToken)
	if err != nil {
		return nil, err
	}
	page, total, next := s.page(owner, before, size, req)
	res := &a2a.ListTasksResponse{TotalSize: total, PageSize: size, NextPageToken: next}
	for _, t := range page {
		res.Tasks = append(res.Tasks, listed(t, req))
	}
	return res, nil
}

// page gives the tasks that match and are placed after before, up to size of them,
// how many match at all, and where the next page begins. The tasks are the
// store's own.
func (s *memoryStore) page(owner string, before placed, size int, req *a2a.ListTasksRequest) (page []*a2a.Task, total int, next string) {
	defer s.lock()()
	mine := s.owners[owner]
	if mine == nil {
		return nil, 0, ""
	}
	var last placed
	for at := mine.Front(); at != nil; at = at.Next() {
		e := entry(at)
		if s.tooOld(e) || !matches(e.task, req) {
			continue
		}
		total++
		switch {
		case !before.before(e.at):
		case len(page) < size:
			page = append(page, e.task)
			last = e.at
		default:
			next = tokenOf(last)
		}
	}
	return page, total, next
}

func matches(t *a2a.Task, req *a2a.ListTasksRequest) bool {
	after, at := req.StatusTimestampAfter, t.Status.Timestamp
	return (req.ContextID == "" || t.ContextID == req.ContextID) &&
		(req.Status == a2a.TaskStateUnspecified || t.Status.State == req.Status) &&
		(after == nil || at == nil || !at.Before(*after))
}

// listed gives the copy of a task that the request asks for.
func listed(t *a2a.Task, req *a2a.ListTasksRequest) *a2a.Task {
	cut := *t
	if !req.IncludeArtifacts {
		cut.Artifacts = nil
	}
	length := defaultHistory
	if req.HistoryLength != nil {
		length = *req.HistoryLength
	}
	switch {
	case length == 0:
		cut.History = []*a2a.Message{}
	case length > 0 && len(cut.History) > length:
		cut.History = cut.History[len(cut.History)-length:]
	}
	return cloneTask(&cut)
}

// placed is a task's place in a list: the time of its status, and the write that
// set it. A status without a time is later than any other, as a filter by time has it.
type placed struct {
	status int64 // Unix, in nanoseconds
	write  uint64
}

var beforeAll = placed{math.MaxInt64, math.MaxUint64}

// before reports whether p comes before q.
func (p placed) before(q placed) bool {
	return p.status > q.status || p.status == q.status && p.write > q.write
}

// order puts a task that was written to its place among its owner's, which is
// most often the first. It expects the lock to be held.
func (s *memoryStore) order(e *memoryTask) {
	status := int64(math.MaxInt64)
	if at := e.task.Status.Timestamp; at != nil {
		status = at.UnixNano()
	}
	if e.place != nil && status == e.at.status && e.task.Status.Timestamp != nil {
		return
	}
	e.at = placed{status, e.written}
	mine := s.owners[e.owner]
	if mine == nil {
		mine = list.New()
		s.owners[e.owner] = mine
	}
	if e.place == nil {
		e.place = mine.PushFront(e)
	} else {
		mine.MoveToFront(e.place)
	}
	for next := e.place.Next(); next != nil && entry(next).at.before(e.at); next = e.place.Next() {
		mine.MoveAfter(e.place, next)
	}
}

// A page token is the place of the page's last task.

func tokenOf(p placed) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.status)) //nolint:gosec // both ways
	return base64.URLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, p.write))
}

func cursorOf(token string) (before placed, err error) {
	if token == "" {
		return beforeAll, nil
	}
	b, err := base64.URLEncoding.DecodeString(token)
	if err != nil || len(b) != 16 {
		return placed{}, a2a.ErrParseError
	}
	return placed{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])}, nil //nolint:gosec // both ways
}
