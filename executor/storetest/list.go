package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// several creates tasks that were updated one after the other, the last first.
func (p *probe) several(ctx context.Context, n int) (ids []a2a.TaskID, err error) {
	for range n {
		t := task(a2a.TaskStateWorking)
		if _, err := p.create(ctx, p.me, t); err != nil {
			return nil, err
		}
		tick()
		ids = append([]a2a.TaskID{t.ID}, ids...)
	}
	return ids, nil
}

// tick waits until the clock has moved on.
func tick() {
	for now := time.Now(); !time.Now().After(now); {
		continue
	}
}

func idsOf(tasks []*a2a.Task) (ids []a2a.TaskID) {
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// listed compares a list with the ids that it should have.
func (p *probe) listed(ctx context.Context, req *a2a.ListTasksRequest, want ...a2a.TaskID) error {
	res, err := p.List(as(ctx, p.me), req)
	if err != nil {
		return fmt.Errorf("list %s: %w", brief(req), err)
	}
	if got := idsOf(res.Tasks); !slices.Equal(got, want) {
		return fmt.Errorf("list %s: got %v, want %v", brief(req), got, want)
	}
	if res.TotalSize != len(want) {
		return fmt.Errorf("list %s: a total of %d, want %d", brief(req), res.TotalSize, len(want))
	}
	return nil
}

func listOrder(ctx context.Context, p *probe) error {
	ids, err := p.several(ctx, 4)
	if err != nil {
		return err
	}
	if _, err := p.create(ctx, p.other, task(a2a.TaskStateWorking)); err != nil {
		return err
	}
	if err := p.listed(ctx, &a2a.ListTasksRequest{}, ids...); err != nil {
		return err
	}
	changed := task(a2a.TaskStateCompleted)
	changed.ID = ids[3]
	if _, err := p.update(ctx, p.me, changed, 0); err != nil {
		return err
	}
	return p.listed(ctx, &a2a.ListTasksRequest{}, ids[3], ids[0], ids[1], ids[2])
}

func listEmpty(ctx context.Context, p *probe) error {
	res, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{})
	switch {
	case err != nil:
		return err
	case len(res.Tasks) != 0 || res.TotalSize != 0 || res.NextPageToken != "":
		return fmt.Errorf("got %s", brief(res))
	}
	return nil
}

// shelf is some tasks that a filter tells apart. Another user has the like of
// each.
type shelf struct {
	*probe
	base                         time.Time
	early, late, other, timeless a2a.TaskID
}

func (s *shelf) at(d time.Duration) *time.Time { v := s.base.Add(d); return &v }

func (p *probe) shelf(ctx context.Context) (*shelf, error) {
	s := &shelf{probe: p, base: time.Now().Add(-time.Hour)}
	for _, t := range []struct {
		id        *a2a.TaskID
		contextID string
		state     a2a.TaskState
		at        *time.Time
	}{
		{&s.early, "one", a2a.TaskStateCompleted, s.at(0)},
		{&s.late, "one", a2a.TaskStateWorking, s.at(time.Minute)},
		{&s.other, "two", a2a.TaskStateCompleted, s.at(2 * time.Minute)},
		{&s.timeless, "two", a2a.TaskStateFailed, nil},
	} {
		for _, user := range []string{p.other, p.me} {
			c := task(t.state)
			c.ContextID, c.Status.Timestamp = t.contextID, t.at
			if _, err := p.create(ctx, user, c); err != nil {
				return nil, err
			}
			tick()
			*t.id = c.ID // at last mine
		}
	}
	return s, nil
}

func listFilters(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one"}, s.late, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "three"}),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, s.other, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateRejected}),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one", Status: a2a.TaskStateCompleted}, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute)}, s.timeless, s.other, s.late),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute + 1)}, s.timeless, s.other),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(0), ContextID: "two", Status: a2a.TaskStateFailed}, s.timeless),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: year(1600)}, s.timeless, s.other, s.late, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: year(9999)}, s.timeless),
	)
}

// year is the beginning of a year, which may be far away.
func year(y int) *time.Time { t := time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC); return &t }

// filtersFollow: a filter goes by what a task is now.
func filtersFollow(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	changed := task(a2a.TaskStateRejected)
	changed.ID, changed.ContextID, changed.Status.Timestamp = s.early, "three", s.at(3*time.Minute)
	if _, err := p.update(ctx, p.me, changed, taskstore.TaskVersionMissing); err != nil {
		return err
	}
	return errors.Join(
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, s.other),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateRejected}, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one"}, s.late),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "three"}, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(3 * time.Minute)}, s.early, s.timeless),
	)
}

// filteredPages: each page is filtered, and the caller's.
func filteredPages(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		p.paged(ctx, a2a.ListTasksRequest{}, s.timeless, s.other, s.late, s.early),
		p.paged(ctx, a2a.ListTasksRequest{ContextID: "one"}, s.late, s.early),
		p.paged(ctx, a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, s.other, s.early),
		p.paged(ctx, a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute)}, s.timeless, s.other, s.late),
	)
}

// paged compares a list of pages of one task each with the ids that it should have.
func (p *probe) paged(ctx context.Context, req a2a.ListTasksRequest, want ...a2a.TaskID) error {
	req.PageSize = 1
	for i, id := range want {
		res, err := p.List(as(ctx, p.me), &req)
		if err != nil {
			return fmt.Errorf("page %d of list %s: %w", i, brief(&req), err)
		}
		if got := idsOf(res.Tasks); !slices.Equal(got, []a2a.TaskID{id}) || res.TotalSize != len(want) || (res.NextPageToken == "") != (i == len(want)-1) {
			return fmt.Errorf("page %d of list %s: got %v of %d and the token %q, want %s of %d", i, brief(&req), got, res.TotalSize, res.NextPageToken, id, len(want))
		}
		req.PageToken = res.NextPageToken
	}
	return nil
}

func listShortened(ctx context.Context, p *probe) error {
	t := full()
	for range 4 {
		t.History = append(t.History, a2a.NewMessageForTask(a2a.MessageRoleUser, t, a2a.NewTextPart("more")))
	}
	if _, err := p.create(ctx, p.me, t); err != nil {
		return err
	}
	for _, c := range []struct{ most, from int }{{-1, 0}, {0, 5}, {2, 3}, {5, 0}, {50, 0}} {
		req, want := &a2a.ListTasksRequest{HistoryLength: &c.most}, *t
		want.History, want.Artifacts = t.History[c.from:], nil
		if err := p.first(ctx, req, &want); err != nil {
			return fmt.Errorf("history of %d: %w", c.most, err)
		}
	}
	without := *t
	without.Artifacts = nil
	return errors.Join(
		p.first(ctx, &a2a.ListTasksRequest{}, &without),
		p.first(ctx, &a2a.ListTasksRequest{IncludeArtifacts: true}, t),
	)
}

// first compares the first task of a list.
func (p *probe) first(ctx context.Context, req *a2a.ListTasksRequest, want *a2a.Task) error {
	res, err := p.List(as(ctx, p.me), req)
	switch {
	case err != nil:
		return err
	case len(res.Tasks) == 0:
		return errors.New("the list is empty")
	}
	return same(res.Tasks[0], want)
}

func pageSizes(ctx context.Context, p *probe) error {
	ids, err := p.several(ctx, 55)
	if err != nil {
		return err
	}
	for size, want := range map[int]int{0: 50, 1: 1, 54: 54, 55: 55, 100: 55} {
		res, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{PageSize: size})
		switch {
		case err != nil:
			return fmt.Errorf("page of %d: %w", size, err)
		case !slices.Equal(idsOf(res.Tasks), ids[:want]) || res.TotalSize != len(ids):
			return fmt.Errorf("page of %d: got %d tasks of %d, want the first %d of %d", size, len(res.Tasks), res.TotalSize, want, len(ids))
		case (res.NextPageToken == "") != (want == len(ids)):
			return fmt.Errorf("page of %d: page token %q after %d of %d", size, res.NextPageToken, want, len(ids))
		case size != 0 && res.PageSize != size || size == 0 && res.PageSize != 50:
			return fmt.Errorf("page of %d: told to be of %d", size, res.PageSize)
		}
	}
	for _, size := range []int{-1, 101} {
		_, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{PageSize: size})
		if err := wantError(fmt.Sprintf("page of %d", size), err, a2a.ErrInvalidRequest, a2a.ErrInvalidParams); err != nil {
			return err
		}
	}
	return nil
}

func stablePages(ctx context.Context, p *probe) error {
	ids, err := p.several(ctx, 20)
	if err != nil {
		return err
	}
	var seen []a2a.TaskID
	req := &a2a.ListTasksRequest{PageSize: 3}
	for page := 0; ; page++ {
		res, err := p.List(as(ctx, p.me), req)
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		seen = append(seen, idsOf(res.Tasks)...)
		if req.PageToken = res.NextPageToken; req.PageToken == "" {
			break
		}
		if _, err := p.create(ctx, p.me, task(a2a.TaskStateWorking)); err != nil {
			return err
		}
		changed := task(a2a.TaskStateCompleted) // was on the first page
		changed.ID = ids[0]
		if _, err := p.update(ctx, p.me, changed, 0); err != nil {
			return err
		}
	}
	if !slices.Equal(seen, ids) {
		return fmt.Errorf("got %v over all pages, want %v", seen, ids)
	}
	return nil
}

func badToken(ctx context.Context, p *probe) error {
	for _, token := range []string{"junk", "%", "e30=", "bnVsbA", "AAAA"} {
		_, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{PageToken: token})
		if err := wantError(token, err, a2a.ErrInvalidParams, a2a.ErrParseError, a2a.ErrInvalidRequest); err != nil {
			return err
		}
	}
	return nil
}

func listAnonymous(ctx context.Context, p *probe) error {
	if _, err := p.create(ctx, p.me, task(a2a.TaskStateWorking)); err != nil {
		return err
	}
	res, err := p.List(as(ctx, ""), &a2a.ListTasksRequest{PageSize: 100})
	if err != nil {
		return wantError("list", err, a2a.ErrUnauthenticated)
	}
	for _, t := range res.Tasks {
		if _, err := p.Get(as(ctx, ""), t.ID); err != nil {
			return fmt.Errorf("a task is listed for nobody that nobody can get: %w", err)
		}
	}
	return nil
}
