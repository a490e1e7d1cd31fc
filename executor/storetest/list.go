package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

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

// listed compares a list with the ids that it should have, in any order.
func (p *probe) listed(ctx context.Context, req *a2a.ListTasksRequest, want ...a2a.TaskID) error {
	return p.listedFor(ctx, p.me, req, want...)
}

func (p *probe) listedFor(ctx context.Context, user string, req *a2a.ListTasksRequest, want ...a2a.TaskID) error {
	res, err := p.List(as(ctx, user), req)
	if err != nil {
		return fmt.Errorf("list %s: %w", brief(req), err)
	}
	if got := idsOf(res.Tasks); !sameIDs(got, want) {
		return fmt.Errorf("list %s: got %v, want %v", brief(req), got, want)
	}
	if res.TotalSize != len(want) {
		return fmt.Errorf("list %s: a total of %d, want %d", brief(req), res.TotalSize, len(want))
	}
	return nil
}

func sameIDs(a, b []a2a.TaskID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func listOwned(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	return p.listed(ctx, &a2a.ListTasksRequest{}, s.early, s.late, s.other, s.timeless)
}

// newestFirst: the order is that of the statuses' times (A2A 1.0.1 section 3.1.4).
func newestFirst(ctx context.Context, p *probe) error {
	base := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	tasks := make([]*a2a.Task, 3)
	for i, at := range []time.Duration{2, 3, 1} { // not the order in which they are written
		tasks[i] = taskAt(base.Add(at * time.Millisecond))
		if _, err := p.create(ctx, p.me, tasks[i]); err != nil {
			return err
		}
		tick()
	}
	if err := p.ordered(ctx, tasks[1], tasks[0], tasks[2]); err != nil {
		return err
	}
	if _, err := p.update(ctx, p.me, mark(tasks[2], 1), taskstore.TaskVersionMissing); err != nil {
		return err
	}
	if err := p.ordered(ctx, tasks[1], tasks[0], tasks[2]); err != nil {
		return fmt.Errorf("after an update that leaves the status as it was: %w", err)
	}
	later := base.Add(time.Second)
	tasks[0].Status.Timestamp = &later
	if _, err := p.update(ctx, p.me, tasks[0], taskstore.TaskVersionMissing); err != nil {
		return err
	}
	if err := p.ordered(ctx, tasks[0], tasks[1], tasks[2]); err != nil {
		return fmt.Errorf("after an update of the status: %w", err)
	}
	return nil
}

// ordered compares the caller's list, in one page and in pages of one task.
func (p *probe) ordered(ctx context.Context, tasks ...*a2a.Task) error {
	want := idsOf(tasks)
	res, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{})
	if err != nil {
		return err
	}
	if got := idsOf(res.Tasks); !slices.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	got, err := p.paged(ctx, a2a.ListTasksRequest{}, len(want))
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("in pages: got %v, want %v", got, want)
	}
	return err
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
	s := &shelf{probe: p, base: time.Now().Add(-time.Hour).Truncate(time.Millisecond)}
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
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute), ContextID: "one"}, s.late),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(time.Minute), Status: a2a.TaskStateCompleted}, s.other),
	)
}

// farTimes are beyond what an int64 of nanoseconds since 1970 can tell.
func farTimes(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	for _, year := range []int{1, 1000, 1600, 1677, 1678, 2261, 2262, 2263, 5000, 9999} {
		want := []a2a.TaskID{s.timeless}
		if year < 2000 {
			want = append(want, s.early, s.late, s.other)
		}
		at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		err := p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: &at}, want...)
		for _, c := range []string{"one", "two"} {
			_, listErr := p.List(as(ctx, p.me), &a2a.ListTasksRequest{StatusTimestampAfter: &at, ContextID: c})
			err = errors.Join(err, listErr)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filtersFollow: a filter goes by what a task is now.
func filtersFollow(ctx context.Context, p *probe) error {
	s, err := p.shelf(ctx)
	if err != nil {
		return err
	}
	changed := task(a2a.TaskStateRejected)
	changed.ID, changed.ContextID, changed.Status.Timestamp = s.early, "three", s.at(3*time.Minute)
	v, err := p.update(ctx, p.me, changed, taskstore.TaskVersionMissing)
	if err != nil {
		return err
	}
	late := task(a2a.TaskStateCanceled)
	late.ID, late.ContextID = s.early, "four"
	_, lateErr := p.update(ctx, p.me, late, v+1)
	return errors.Join(
		wantError("update a version that is not there yet", lateErr, taskstore.ErrConcurrentModification),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateCompleted}, s.other),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateRejected}, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{Status: a2a.TaskStateCanceled}),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "one"}, s.late),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "three"}, s.early),
		p.listed(ctx, &a2a.ListTasksRequest{ContextID: "four"}),
		p.listed(ctx, &a2a.ListTasksRequest{StatusTimestampAfter: s.at(3 * time.Minute)}, s.early, s.timeless),
	)
}

// nearlySame: names that a database may take for one are several.
func nearlySame(ctx context.Context, p *probe) error {
	ids, contexts := map[string]a2a.TaskID{}, []string{"ctx", "CTX", "ctx ", "ct_", "ct%", "ctx2", "çtx"}
	for _, c := range contexts {
		t := task(a2a.TaskStateWorking)
		t.ContextID = c
		if _, err := p.create(ctx, p.me, t); err != nil {
			return err
		}
		ids[c] = t.ID
	}
	for _, c := range contexts {
		if err := p.listed(ctx, &a2a.ListTasksRequest{ContextID: c}, ids[c]); err != nil {
			return err
		}
	}
	for _, user := range []string{strings.ToUpper(p.me), p.me + " ", p.me[:len(p.me)-1] + "_", "%"} {
		_, err := p.Get(as(ctx, user), ids["ctx"])
		err = errors.Join(wantError("get as "+user, err, a2a.ErrTaskNotFound), p.listedFor(ctx, user, &a2a.ListTasksRequest{}))
		if err != nil {
			return err
		}
	}
	lower, upper := task(a2a.TaskStateWorking), task(a2a.TaskStateWorking)
	lower.ID, upper.ID = "x"+lower.ID, "X"+lower.ID
	_, err1 := p.create(ctx, p.me, lower)
	_, err2 := p.create(ctx, p.me, upper)
	return errors.Join(err1, err2, p.expect(ctx, p.me, lower, 0), p.expect(ctx, p.me, upper, 0))
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
		p.expect(ctx, p.me, t, taskstore.TaskVersionMissing),
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

// listAnonymous: a store may have no list for callers without a name, but if it
// has one, it is of their tasks.
func listAnonymous(ctx context.Context, p *probe) error {
	mine, nobodys := task(a2a.TaskStateWorking), task(a2a.TaskStateWorking)
	nobodys.ContextID = mine.ContextID
	if _, err := p.create(ctx, p.me, mine); err != nil {
		return err
	}
	if _, err := p.create(ctx, "", nobodys); err != nil {
		return err
	}
	req := &a2a.ListTasksRequest{ContextID: mine.ContextID}
	err := p.listedFor(ctx, "", req, nobodys.ID)
	if errors.Is(err, a2a.ErrUnauthenticated) {
		err = nil
	}
	return errors.Join(err, p.listed(ctx, req, mine.ID))
}
