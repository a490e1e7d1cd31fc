package executor

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The numbers of A2A v1.0 section 3.1.4, and the host's for the history.
const (
	defaultPage    = 50
	maxPage        = 100
	defaultHistory = 100
)

// List implements taskstore.Store: the caller's tasks, the most recently
// written first. It looks at all of them, for the answer tells how many match,
// but at nobody else's, and copies one page. A page starts where the one before
// ended, whatever was written or forgotten since; a task that was written since
// has moved to the front and is not in the later pages.
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

// page gives the tasks that match and were written before, up to size of them,
// how many match at all, and where the next page begins. The tasks are the
// store's own.
func (s *memoryStore) page(owner string, before uint64, size int, req *a2a.ListTasksRequest) (page []*a2a.Task, total int, next string) {
	defer s.lock()()
	mine := s.owners[owner]
	if mine == nil {
		return nil, 0, ""
	}
	var last uint64
	for at := mine.Front(); at != nil; at = at.Next() {
		e := entry(at)
		if s.tooOld(e) || !matches(e.task, req) {
			continue
		}
		total++
		switch {
		case e.written >= before:
		case len(page) < size:
			page = append(page, e.task)
			last = e.written
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

// A page token is when the last task of the page was written.

func tokenOf(written uint64) string {
	return base64.URLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, written))
}

func cursorOf(token string) (before uint64, err error) {
	if token == "" {
		return ^uint64(0), nil
	}
	b, err := base64.URLEncoding.DecodeString(token)
	if err != nil || len(b) != 8 {
		return 0, a2a.ErrParseError
	}
	return binary.BigEndian.Uint64(b), nil
}
