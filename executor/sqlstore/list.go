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

// List implements taskstore.Store. The task whose status is the newest comes
// first (A2A 1.0.1 section 3.1.4), whatever else of it was written since; one whose status
// has no time comes before all others, as every filter by time lets it pass.
// A page token stands for a place in that order: a task whose status does not
// change meanwhile is on one page, whatever is created, updated or removed between two. The
// errors are those of the host's store in memory: a2a.ErrUnauthenticated where the
// [Authenticator] fails, a2a.ErrInvalidRequest for a page size, a2a.ErrParseError for
// a page token. Other than there, anonymous callers have a list: of their tasks.
func (s *Tasks) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := s.list(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return res, nil
}

func (s *Tasks) list(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	owner, err := s.db.owner(ctx)
	if err != nil {
		return nil, a2a.ErrUnauthenticated
	}
	size := req.PageSize
	if size == 0 {
		size = defaultPage
	}
	if size < 1 || size > longestPage {
		return nil, fmt.Errorf("page size must be between 1 and %d, got %d: %w", longestPage, size, a2a.ErrInvalidRequest)
	}
	total, found, err := s.find(ctx, owner, req, size+1)
	if err != nil {
		return nil, err
	}
	res := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: total, PageSize: size}
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

// find gives a page's tasks, and one more if there is, and how many there are on all pages.
func (s *Tasks) find(ctx context.Context, owner string, req *a2a.ListTasksRequest, limit int) (total int, found []listed, err error) {
	f := filterOf(owner, req)
	var after cursor
	if req.PageToken != "" {
		if after, err = decodeCursor(req.PageToken); err != nil {
			return 0, nil, err
		}
	}
	if total, err = s.count(ctx, f); err != nil || total == 0 {
		return 0, nil, err
	}
	if req.PageToken != "" {
		f.where(afterCursor, after.At, after.ID)
	}
	found, err = s.page(ctx, f, limit)
	return total, found, err
}

// filter is the condition of a list, and the index that leads to what it is true
// of: SQLite would choose another one.
type filter struct {
	index string
	conds []string
	args  []any
}

func (f *filter) where(cond string, args ...any) {
	f.conds = append(f.conds, cond)
	f.args = append(f.args, args...)
}

func (f *filter) text() string {
	return ` FROM {p}tasks ` + f.index + ` WHERE ` + strings.Join(f.conds, " AND ")
}

// filterOf makes the filter of a request.
func filterOf(owner string, req *a2a.ListTasksRequest) *filter {
	f := &filter{index: "{by list}"}
	f.where("owner = ?", owner)
	if req.Status != a2a.TaskStateUnspecified {
		f.index = "{by state}"
		f.where("state = ?", string(req.Status))
	}
	switch {
	case unstorable(req.ContextID):
		f.where("1 = 0")
	case req.ContextID != "":
		f.index = "{by context}"
		f.where("context_id = ?", req.ContextID)
	}
	if at := req.StatusTimestampAfter; at != nil {
		f.where("status_at >= ?", nanos(*at))
	}
	return f
}

// count counts all that match, by the smallest index there is.
func (s *Tasks) count(ctx context.Context, f *filter) (n int, err error) {
	rows, err := s.db.query(ctx, `SELECT count(*)`+strings.Replace(f.text(), "{by list}", "{by time}", 1), f.args...)
	_, err = one(rows, err, &n)
	return n, err
}

// listed is a task and its place in the order.
type listed struct {
	cursor
	body string
}

// afterCursor is the condition of a page that is not the first.
const afterCursor = "(status_at, id) < (?, ?)"

func (s *Tasks) page(ctx context.Context, f *filter, limit int) ([]listed, error) {
	rows, err := s.db.query(ctx, pageOf(f), append(f.args, limit)...)
	return all(rows, err, func(r *sql.Rows) (l listed, err error) {
		return l, r.Scan(&l.At, &l.ID, &l.body)
	})
}

func pageOf(f *filter) string {
	return `SELECT status_at, id, body` + f.text() + ` ORDER BY status_at DESC, id DESC LIMIT ?`
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
