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

// several creates tasks whose statuses are of one time after the other, and gives
// their ids, the newest first.
func (p *probe) several(ctx context.Context, n int) (ids []a2a.TaskID, err error) {
	base := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	for i := range n {
		t := taskAt(base.Add(time.Duration(i) * time.Millisecond))
		if _, err := p.create(ctx, p.me, t); err != nil {
			return nil, err
		}
		tick()
		ids = append([]a2a.TaskID{t.ID}, ids...)
	}
	return ids, nil
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
		if page > len(ids) {
			return fmt.Errorf("page %d of %d tasks is not the last", page, len(ids))
		}
		if _, err := p.create(ctx, p.me, task(a2a.TaskStateWorking)); err != nil {
			return err
		}
		changed := task(a2a.TaskStateCompleted) // was on the first page
		changed.ID = ids[0]
		if _, err := p.update(ctx, p.me, changed, taskstore.TaskVersionMissing); err != nil {
			return err
		}
	}
	if !slices.Equal(seen, ids) {
		return fmt.Errorf("got %v over all pages, want %v", seen, ids)
	}
	return nil
}

// paged gives what a list has in pages of one task each, of which there should
// be so many.
func (p *probe) paged(ctx context.Context, req a2a.ListTasksRequest, want int) (ids []a2a.TaskID, err error) {
	req.PageSize = 1
	for i := range want {
		res, err := p.List(as(ctx, p.me), &req)
		switch {
		case err != nil:
			return nil, fmt.Errorf("page %d of list %s: %w", i, brief(&req), err)
		case len(res.Tasks) != 1 || res.TotalSize != want || (res.NextPageToken == "") != (i == want-1):
			return nil, fmt.Errorf("page %d of list %s: got %v of %d and the token %q, want one of %d",
				i, brief(&req), idsOf(res.Tasks), res.TotalSize, res.NextPageToken, want)
		}
		ids = append(ids, res.Tasks[0].ID)
		req.PageToken = res.NextPageToken
	}
	return ids, nil
}

// filteredPages: each page is filtered, and the caller's.
func filteredPages(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		req  a2a.ListTasksRequest
		want []a2a.TaskID
	}{
		{a2a.ListTasksRequest{}, []a2a.TaskID{s.timeless, s.other, s.late, s.early}},
		{a2a.ListTasksRequest{ContextID: "one"}, []a2a.TaskID{s.late, s.early}},
		{a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, []a2a.TaskID{s.other, s.early}},
		{a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute)}, []a2a.TaskID{s.timeless, s.other, s.late}},
	} {
		got, err := p.paged(ctx, c.req, len(c.want))
		if err == nil && !sameIDs(got, c.want) {
			err = fmt.Errorf("list %s in pages: got %v, want %v", brief(&c.req), got, c.want)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tiedPages: tasks whose statuses are of the same time are in some order, the
// same for each page.
func tiedPages(ctx context.Context, p *probe) error {
	at := time.Now().Truncate(time.Millisecond)
	var ids []a2a.TaskID
	for range 7 {
		t := taskAt(at)
		if _, err := p.create(ctx, p.me, t); err != nil {
			return err
		}
		ids = append(ids, t.ID)
	}
	got, err := p.paged(ctx, a2a.ListTasksRequest{}, len(ids))
	if err == nil && !sameIDs(got, ids) {
		err = fmt.Errorf("got %v over all pages, want each of %v once", got, ids)
	}
	return err
}

// shortPages: what is left out of the first page is left out of the others.
func shortPages(ctx context.Context, p *probe) error {
	for range 2 {
		if _, err := p.create(ctx, p.me, full()); err != nil {
			return err
		}
		tick()
	}
	none := 0
	req := a2a.ListTasksRequest{PageSize: 1, HistoryLength: &none}
	for page := range 2 {
		res, err := p.List(as(ctx, p.me), &req)
		switch {
		case err != nil:
			return fmt.Errorf("page %d: %w", page, err)
		case len(res.Tasks) != 1 || len(res.Tasks[0].History) > 0 || len(res.Tasks[0].Artifacts) > 0:
			return fmt.Errorf("page %d: got %s, want one task without history and artifacts", page, brief(res.Tasks))
		}
		req.PageToken = res.NextPageToken
	}
	return nil
}

// othersToken: a page token shows nothing of whose list it was given for.
func othersToken(ctx context.Context, p *probe) error {
	if _, err := p.several(ctx, 3); err != nil {
		return err
	}
	mine, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{PageSize: 1})
	switch {
	case err != nil:
		return err
	case mine.NextPageToken == "":
		return errors.New("no page token after 1 of 3")
	}
	res, err := p.List(as(ctx, p.other), &a2a.ListTasksRequest{PageToken: mine.NextPageToken})
	if err == nil && (len(res.Tasks) > 0 || res.TotalSize > 0) {
		return fmt.Errorf("got %v of %d, which are another user's", idsOf(res.Tasks), res.TotalSize)
	}
	return nil // a token may also be refused
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
