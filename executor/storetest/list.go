package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
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

func listFilters(ctx context.Context, p *probe) error {
	base := time.Now().Add(-time.Hour)
	mk := func(contextID string, s a2a.TaskState, at *time.Time) (a2a.TaskID, error) {
		t := task(s)
		t.ContextID, t.Status.Timestamp = contextID, at
		_, err := p.create(ctx, p.me, t)
		tick()
		return t.ID, err
	}
	at := func(d time.Duration) *time.Time { v := base.Add(d); return &v }
	early, err1 := mk("one", a2a.TaskStateCompleted, at(0))
	late, err2 := mk("one", a2a.TaskStateWorking, at(time.Minute))
	other, err3 := mk("two", a2a.TaskStateCompleted, at(2*time.Minute))
	timeless, err4 := mk("two", a2a.TaskStateFailed, nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	return errors.Join(
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one"}, late, early),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "three"}),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, other, early),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateRejected}),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one", Status: a2a.TaskStateCompleted}, early),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: at(time.Minute)}, timeless, other, late),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: at(time.Minute + 1)}, timeless, other),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: at(0), ContextID: "two", Status: a2a.TaskStateFailed}, timeless),
	)
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
