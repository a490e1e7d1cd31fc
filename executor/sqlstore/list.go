package sqlstore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	defaultPage    = 50
	longestPage    = 100
	defaultHistory = 100
)

// List implements taskstore.Store. The task that was updated last comes first.
// A page token stands for a place in that order: a task that is not updated
// meanwhile is on one page, whatever is created, updated or removed between two. The
// errors are those of the host's store in memory: a2a.ErrUnauthenticated for an
// anonymous caller, a2a.ErrInvalidRequest for a page size, a2a.ErrParseError for
// a page token.
func (s *Tasks) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.list(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return res, nil
}

func (s *Tasks) list(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	owner, err := s.db.owner(ctx)
	if owner == "" || err != nil {
		return nil, a2a.ErrUnauthenticated
	}
	size := req.PageSize
	if size == 0 {
		size = defaultPage
	}
	if size < 1 || size > longestPage {
		return nil, fmt.Errorf("page size must be between 1 and %d, got %d: %w", longestPage, size, a2a.ErrInvalidRequest)
	}
	f := filterOf(owner, req)
	total, err := s.count(ctx, f)
	if err != nil {
		return nil, err
	}
	res := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: total, PageSize: size}
	if req.PageToken != "" {
		after, err := decodeCursor(req.PageToken)
		if err != nil {
			return nil, err
		}
		f.where("(updated_at, id) < (?, ?)", after.At, after.ID)
	}
	found, err := s.page(ctx, f, size+1)
	if err != nil {
		return nil, err
	}
	if len(found) > size {
		found = found[:size]
		res.NextPageToken = found[size-1].encode()
	}
	for _, l := range found {
		t, err := s.task(l.body)
		if err != nil {
			return nil, err
		}
		res.Tasks = append(res.Tasks, shorten(t, req))
	}
	return res, nil
}

// filter is the condition of a list.
type filter struct {
	conds []string
	args  []any
}

func (f *filter) where(cond string, args ...any) {
	f.conds = append(f.conds, cond)
	f.args = append(f.args, args...)
}

func (f *filter) text() string { return strings.Join(f.conds, " AND ") }

func filterOf(owner string, req *a2a.ListTasksRequest) *filter {
	f := &filter{}
	f.where("owner = ?", owner)
	switch {
	case unstorable(req.ContextID):
		f.where("1 = 0")
	case req.ContextID != "":
		f.where("context_id = ?", req.ContextID)
	}
	if req.Status != a2a.TaskStateUnspecified {
		f.where("state = ?", string(req.Status))
	}
	if at := req.StatusTimestampAfter; at != nil {
		f.where("status_at >= ?", at.UnixNano())
	}
	return f
}

func (s *Tasks) count(ctx context.Context, f *filter) (n int, err error) {
	rows, err := s.db.query(ctx, `SELECT count(*) FROM {p}tasks WHERE `+f.text(), f.args...)
	_, err = one(rows, err, &n)
	return n, err
}

// listed is a task and its place in the order.
type listed struct {
	cursor
	body string
}

func (s *Tasks) page(ctx context.Context, f *filter, limit int) ([]listed, error) {
	rows, err := s.db.query(ctx, `SELECT updated_at, id, body FROM {p}tasks WHERE `+f.text()+
		` ORDER BY updated_at DESC, id DESC LIMIT ?`, append(f.args, limit)...)
	return all(rows, err, func(r *sql.Rows) (l listed, err error) {
		return l, r.Scan(&l.At, &l.ID, &l.body)
	})
}

// shorten leaves out what the request does not want.
func shorten(t *a2a.Task, req *a2a.ListTasksRequest) *a2a.Task {
	most := defaultHistory
	if req.HistoryLength != nil {
		most = *req.HistoryLength
	}
	switch n := len(t.History); {
	case most == 0:
		t.History = []*a2a.Message{}
	case most > 0 && n > most:
		t.History = t.History[n-most:]
	}
	if !req.IncludeArtifacts {
		t.Artifacts = nil
	}
	return t
}

// cursor is a place in the order of a list.
type cursor struct {
	At int64  `json:"t"`
	ID string `json:"id"`
}

func (c cursor) encode() string {
	text, _ := json.Marshal(c) // numbers and texts cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

func decodeCursor(token string) (c cursor, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return c, fmt.Errorf("page token: %w", a2a.ErrParseError)
	}
	if json.Unmarshal(text, &c) != nil || c.ID == "" || unstorable(c.ID) {
		return c, fmt.Errorf("page token: %w", a2a.ErrParseError)
	}
	return c, nil
}
