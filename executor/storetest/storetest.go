// Package storetest checks that a task store, or a store of push
// configurations, keeps the promises that the host's server and package
// executor build on, for authors of stores.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) taskstore.Store { return mystore.Open(t.TempDir()) })
//	}
//
// The checks call a store as a server does: the user is the one of the host's
// call context.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// Run runs every check of a task store as a subtest, each with a store of its
// own. newStore makes an empty store.
func Run(t *testing.T, newStore func(*testing.T) taskstore.Store) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), newStore(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStore runs every check against a task store and returns an error that
// joins all violations, nil if there are none. The store may hold tasks of others
// already; those of the checks stay in it, under users and ids of their own.
func TestStore(ctx context.Context, s taskstore.Store) error {
	var errs []error
	for _, c := range checks {
		if err := c.run(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

type check struct {
	name string
	fn   func(ctx context.Context, p *probe) error
}

var checks = []check{
	{"an unknown task is ErrTaskNotFound", unknownTask},
	{"what was created is got", createdIsGot},
	{"what was updated is got", updatedIsGot},
	{"large, deep and odd content survives", contentSurvives},
	{"a task is created once", createdOnce},
	{"each update has a later version", versionsGrow},
	{"an update of an old version is a conflict and changes nothing", conflict},
	{"an update without a version is no conflict", unversioned},
	{"of many that update one version one wins", oneUpdates},
	{"of many that create one task one wins", oneCreates},
	{"a reader sees whole tasks only", wholeOnly},
	{"another user's task is not there", masked},
	{"a call without a caller is refused", noCaller},
	{"what is given and got is not shared", notAliased},
	{"a cancelled context changes nothing or is obeyed", cancelled},
	{"a list has the caller's tasks", listOwned},
	{"a list has the newest status first", newestFirst},
	{"a list of nothing", listEmpty},
	{"a list is filtered", listFilters},
	{"a filter takes any time", farTimes},
	{"a filter goes by what a task is now", filtersFollow},
	{"names that are nearly the same are several", nearlySame},
	{"a list is shortened", listShortened},
	{"a page has the size that was asked for", pageSizes},
	{"pages are stable while tasks come and change", stablePages},
	{"every page is filtered", filteredPages},
	{"every page is shortened", shortPages},
	{"tasks of one time are on one page each", tiedPages},
	{"a page token is of no use to others", othersToken},
	{"a page token that was not given is refused", badToken},
	{"a list for nobody has nobody's tasks", listAnonymous},
}

// run runs one check, with users of its own.
func (c check) run(ctx context.Context, s taskstore.Store) error {
	p := &probe{Store: s, me: "me-" + a2a.NewMessageID(), other: "other-" + a2a.NewMessageID()}
	return guarded(func() error { return c.fn(ctx, p) })
}

// probe is a store and two users.
type probe struct {
	taskstore.Store
	me, other string
}

// as gives the context of a call by a user.
func as(ctx context.Context, user string) context.Context {
	ctx, call := a2asrv.NewCallContext(ctx, nil)
	call.User = &a2asrv.User{Name: user, Authenticated: user != ""}
	return ctx
}

// create stores a task of a user's.
func (p *probe) create(ctx context.Context, user string, t *a2a.Task) (taskstore.TaskVersion, error) {
	v, err := p.Create(as(ctx, user), t)
	if err != nil {
		return v, fmt.Errorf("create: %w", err)
	}
	return v, nil
}

func (p *probe) update(ctx context.Context, user string, t *a2a.Task, v taskstore.TaskVersion) (taskstore.TaskVersion, error) {
	v, err := p.Update(as(ctx, user), &taskstore.UpdateRequest{Task: t, Event: t, PrevVersion: v})
	if err != nil {
		return v, fmt.Errorf("update: %w", err)
	}
	return v, nil
}

// expect compares the stored task, and its version unless that is missing.
func (p *probe) expect(ctx context.Context, user string, want *a2a.Task, v taskstore.TaskVersion) error {
	st, err := p.Get(as(ctx, user), want.ID)
	switch {
	case err != nil:
		return fmt.Errorf("get: %w", err)
	case st == nil || st.Task == nil:
		return errors.New("get: no task and no error")
	case v != taskstore.TaskVersionMissing && st.Version != v:
		return fmt.Errorf("get: version %d, want %d", st.Version, v)
	}
	return same(st.Task, want)
}

func wantError(what string, err error, oneOf ...error) error {
	if err == nil {
		return fmt.Errorf("%s: no error, want %w", what, oneOf[0])
	}
	for _, want := range oneOf {
		if errors.Is(err, want) {
			return nil
		}
	}
	return fmt.Errorf("%s: got %w, want %w", what, err, oneOf[0])
}
