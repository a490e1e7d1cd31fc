package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/internal/meanwhile"
)

func unknownTask(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	_, getErr := p.Get(as(ctx, p.me), t.ID)
	_, updateErr := p.update(ctx, p.me, t, 1)
	_, unversionedErr := p.update(ctx, p.me, t, taskstore.TaskVersionMissing)
	return errors.Join(
		wantError("get", getErr, a2a.ErrTaskNotFound),
		wantError("update", updateErr, a2a.ErrTaskNotFound),
		wantError("update without a version", unversionedErr, a2a.ErrTaskNotFound),
	)
}

func createdIsGot(ctx context.Context, p *probe) error {
	for _, t := range []*a2a.Task{task(a2a.TaskStateWorking), full(), {ID: a2a.NewTaskID()}} {
		v, err := p.create(ctx, p.me, t)
		if err != nil {
			return err
		}
		if v == taskstore.TaskVersionMissing {
			return errors.New("create: gives no version")
		}
		if err := p.expect(ctx, p.me, t, v); err != nil {
			return err
		}
		st, err := p.Get(as(ctx, p.me), t.ID)
		if err != nil {
			return err
		}
		if st.User != p.me {
			return fmt.Errorf("get: user %q, want %q", st.User, p.me)
		}
	}
	return nil
}

func updatedIsGot(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	next := full()
	next.ID = t.ID
	if v, err = p.update(ctx, p.me, next, v); err != nil {
		return err
	}
	if err := p.expect(ctx, p.me, next, v); err != nil {
		return err
	}
	bare := &a2a.Task{ID: t.ID, ContextID: next.ContextID, Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}
	if v, err = p.update(ctx, p.me, bare, v); err != nil {
		return err
	}
	return p.expect(ctx, p.me, bare, v)
}

func contentSurvives(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	t.ContextID = "ünï/∞ it's \"quoted\"; --%_"
	t.Metadata = odd()
	t.History[0].Parts, t.History[0].Metadata = oddParts(), odd()
	t.Artifacts = []*a2a.Artifact{{ID: "a", Parts: oddParts(), Metadata: odd()}, {ID: "b", Parts: a2a.ContentParts{a2a.NewTextPart("x")}}}
	t.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, t, oddParts()...)
	if _, err := p.create(ctx, p.me, t); err != nil {
		return err
	}
	return p.expect(ctx, p.me, t, taskstore.TaskVersionMissing)
}

func createdOnce(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	again := task(a2a.TaskStateFailed)
	again.ID = t.ID
	_, mine := p.create(ctx, p.me, again)
	_, others := p.create(ctx, p.other, again)
	return errors.Join(
		wantError("create again", mine, taskstore.ErrTaskAlreadyExists),
		wantError("create as another user", others, taskstore.ErrTaskAlreadyExists),
		p.expect(ctx, p.me, t, v),
	)
}

func versionsGrow(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	for range 10 {
		if err != nil {
			return err
		}
		last := v
		if v, err = p.update(ctx, p.me, t, last); err == nil && !v.After(last) {
			return fmt.Errorf("version %d comes after %d", v, last)
		}
	}
	return err
}

func conflict(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	first, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	t.Metadata = map[string]any{"by": "the second"}
	second, err := p.update(ctx, p.me, t, first)
	if err != nil {
		return err
	}
	late := *t
	late.Metadata = map[string]any{"by": "the late one"}
	_, old := p.update(ctx, p.me, &late, first)
	_, future := p.update(ctx, p.me, &late, second+100)
	return errors.Join(
		wantError("update an old version", old, taskstore.ErrConcurrentModification),
		wantError("update a version that is not there yet", future, taskstore.ErrConcurrentModification),
		p.expect(ctx, p.me, t, second),
	)
}

func unversioned(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	first, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	t.Metadata = map[string]any{"x": "y"}
	v, err := p.update(ctx, p.me, t, taskstore.TaskVersionMissing)
	switch {
	case err != nil:
		return err
	case !v.After(first):
		return fmt.Errorf("version %d comes after %d", v, first)
	}
	return p.expect(ctx, p.me, t, v)
}

const crowd = 16

// guarded calls fn in a goroutine of its own, where a panic or an end of the
// goroutine (runtime.Goexit, t.FailNow) is an error.
func guarded(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the store ended the goroutine of its caller")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
			done <- err
		}()
		err = fn()
	}()
	return <-done
}

// together calls fn in several goroutines at once and returns their errors.
func together(fn func(i int) error) []error {
	errs := make([]error, crowd)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() {
			<-start
			errs[i] = guarded(func() error { return fn(i) })
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// winner checks that one call went well and the others got the wanted error.
func winner(errs []error, want error) (int, error) {
	won, n := 0, 0
	for i, err := range errs {
		if err == nil {
			won, n = i, n+1
		} else if !errors.Is(err, want) {
			return 0, fmt.Errorf("got %w, want %w", err, want)
		}
	}
	if n != 1 {
		return 0, fmt.Errorf("%d of %d won, want 1", n, len(errs))
	}
	return won, nil
}

// mark makes a copy of a task that tells who wrote it.
func mark(t *a2a.Task, i int) *a2a.Task {
	c := *t
	c.Metadata = map[string]any{"by": fmt.Sprint(i)}
	return &c
}

func oneUpdates(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	for range 5 {
		versions := make([]taskstore.TaskVersion, crowd)
		errs := together(func(i int) (err error) {
			versions[i], err = p.update(ctx, p.me, mark(t, i), v)
			return err
		})
		won, err := winner(errs, taskstore.ErrConcurrentModification)
		if err != nil {
			return err
		}
		v = versions[won]
		if err := p.expect(ctx, p.me, mark(t, won), v); err != nil {
			return err
		}
	}
	return nil
}

func oneCreates(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	errs := together(func(i int) error {
		_, err := p.create(ctx, p.me, mark(t, i))
		return err
	})
	won, err := winner(errs, taskstore.ErrTaskAlreadyExists)
	if err != nil {
		return err
	}
	return p.expect(ctx, p.me, mark(t, won), taskstore.TaskVersionMissing)
}

func wholeOnly(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	page := func(n int) *a2a.Task {
		c := mark(t, n)
		c.Artifacts = []*a2a.Artifact{{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart(strings.Repeat(fmt.Sprintf("%03d", n), 20_000))}}}
		return c
	}
	v, err := p.create(ctx, p.me, page(0))
	if err != nil {
		return err
	}
	return meanwhile.Read(
		func() error { return guarded(func() error { return p.readPage(ctx, t.ID) }) },
		func() error { return guarded(func() error { return p.turn(ctx, page, v) }) })
}

// turn updates a task's page over and over.
func (p *probe) turn(ctx context.Context, page func(int) *a2a.Task, v taskstore.TaskVersion) (err error) {
	for n := 1; n <= 40 && err == nil; n++ {
		v, err = p.update(ctx, p.me, page(n), v)
	}
	return err
}

// readPage checks that the artifact is that of the metadata.
func (p *probe) readPage(ctx context.Context, id a2a.TaskID) error {
	st, err := p.Get(as(ctx, p.me), id)
	switch {
	case err != nil:
		return err
	case st == nil || st.Task == nil || len(st.Task.Artifacts) != 1 || len(st.Task.Artifacts[0].Parts) != 1:
		return fmt.Errorf("got %s", brief(st))
	}
	var n int
	if _, err := fmt.Sscan(fmt.Sprint(st.Task.Metadata["by"]), &n); err != nil {
		return err
	}
	if got, want := st.Task.Artifacts[0].Parts[0].Text(), strings.Repeat(fmt.Sprintf("%03d", n), 20_000); got != want {
		return fmt.Errorf("version %d has the artifact of another, or part of it", n)
	}
	return nil
}

func masked(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	_, getErr := p.Get(as(ctx, p.other), t.ID)
	_, updateErr := p.update(ctx, p.other, mark(t, 1), v)
	_, staleErr := p.update(ctx, p.other, mark(t, 1), v+1)
	_, anyErr := p.update(ctx, p.other, mark(t, 1), taskstore.TaskVersionMissing)
	_, nobodyErr := p.Get(as(ctx, ""), t.ID)
	return errors.Join(
		wantError("get", getErr, a2a.ErrTaskNotFound),
		wantError("update", updateErr, a2a.ErrTaskNotFound),
		wantError("update another version", staleErr, a2a.ErrTaskNotFound),
		wantError("update without a version", anyErr, a2a.ErrTaskNotFound),
		wantError("get as nobody", nobodyErr, a2a.ErrTaskNotFound),
		p.expect(ctx, p.me, t, v),
	)
}

func noCaller(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	if _, err := p.create(ctx, p.me, t); err != nil {
		return err
	}
	_, createErr := p.Create(ctx, task(a2a.TaskStateWorking))
	_, getErr := p.Get(ctx, t.ID)
	_, listErr := p.List(ctx, &a2a.ListTasksRequest{})
	for what, err := range map[string]error{"create": createErr, "get": getErr, "list": listErr} {
		if err == nil {
			return fmt.Errorf("%s: no error", what)
		}
	}
	return nil
}

func notAliased(ctx context.Context, p *probe) error {
	t, want := full(), full()
	*want = *t
	want.Metadata = map[string]any{"k": []any{"v"}}
	t.Metadata = map[string]any{"k": []any{"v"}}
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	t.Metadata["k"].([]any)[0] = "changed by the creator" //nolint:errcheck,forcetypeassert // made above
	t.Artifacts = nil
	if err := p.expect(ctx, p.me, want, v); err != nil {
		return err
	}
	st, err := p.Get(as(ctx, p.me), t.ID)
	if err != nil {
		return err
	}
	st.Task.Metadata["k"].([]any)[0] = "changed by a reader" //nolint:errcheck,forcetypeassert // as compared above
	st.Task.Artifacts[0].Name = "changed by a reader"
	if err := p.expect(ctx, p.me, want, v); err != nil {
		return err
	}
	res, err := p.List(as(ctx, p.me), &a2a.ListTasksRequest{IncludeArtifacts: true})
	switch {
	case err != nil:
		return err
	case len(res.Tasks) != 1:
		return fmt.Errorf("list: got %d tasks, want 1", len(res.Tasks))
	}
	res.Tasks[0].Metadata["k"] = "changed by who listed it"
	res.Tasks[0].Artifacts, res.Tasks[0].Status.Message = nil, nil
	return p.expect(ctx, p.me, want, v)
}

func cancelled(ctx context.Context, p *probe) error {
	t := task(a2a.TaskStateWorking)
	v, err := p.create(ctx, p.me, t)
	if err != nil {
		return err
	}
	dead, cancel := context.WithCancel(ctx)
	cancel()
	now, err := p.update(dead, p.me, mark(t, 1), v)
	if err == nil {
		return p.expect(ctx, p.me, mark(t, 1), now)
	}
	if err := wantError("update", err, context.Canceled); err != nil {
		return err
	}
	return p.expect(ctx, p.me, t, v)
}
