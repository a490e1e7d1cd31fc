package hitl_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/hitl"
)

func TestMemo(t *testing.T) {
	t.Parallel()
	given := map[string]any{"task": "t-1", "n": 3, "lost": make(chan int)}
	i := hitl.InputRequired("?", hitl.ID("q"), hitl.Memo(given))
	given["task"] = "changed"
	want := map[string]any{"task": "t-1", "n": 3.0}
	got := i.Memo()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memo (-want +got):\n%s", diff)
	}
	got["task"] = "changed"
	if i.Memo()["task"] != "t-1" {
		t.Error("a caller can change the memo")
	}
	if _, told := i.Data()["task"]; told {
		t.Error("the memo is among what is asked")
	}
	var none *hitl.Interrupt
	if none.Memo() != nil || hitl.InputRequired("?", hitl.Memo(nil)).Memo() != nil {
		t.Error("a memo of nothing")
	}
}

func TestMemos(t *testing.T) {
	t.Parallel()
	a := hitl.InputRequired("a?", hitl.ID("a"), hitl.Memo(map[string]any{"n": 1}))
	b := hitl.InputRequired("b?", hitl.ID("b"), hitl.Memo(map[string]any{"n": 2}))
	again := hitl.InputRequired("a?", hitl.ID("a"), hitl.Memo(map[string]any{"n": 3}))
	nameless := hitl.InputRequired("c?", hitl.Memo(map[string]any{"n": 4}))
	got := hitl.Memos(errors.Join(fmt.Errorf("deep: %w", a), hitl.InputRequired("bare", hitl.ID("x")), nameless, b, again))
	want := map[string]any{"a": map[string]any{"n": 1.0}, "b": map[string]any{"n": 2.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memos (-want +got):\n%s", diff)
	}
	if hitl.Memos(nil) != nil || hitl.Memos(errors.New("x")) != nil {
		t.Error("memos of no question")
	}
}

type remembering struct {
	answers
	err error
}

func (r remembering) Recall(_ context.Context, key string) (map[string]any, error) {
	if key != "known" {
		return nil, r.err
	}
	return map[string]any{"task": "t-1"}, r.err
}

func TestRecall(t *testing.T) {
	t.Parallel()
	ctx := hitl.WithAsker(t.Context(), remembering{})
	if memo, err := hitl.Recall(ctx, "known"); err != nil || memo["task"] != "t-1" {
		t.Errorf("got %v, %v", memo, err)
	}
	for name, ctx := range map[string]context.Context{
		"another key": ctx, "nobody to ask": t.Context(), "an asker without memos": hitl.WithAsker(t.Context(), answers{}),
	} {
		if memo, err := hitl.Recall(ctx, "unknown"); err != nil || memo != nil {
			t.Errorf("%s: got %v, %v", name, memo, err)
		}
	}
	if _, err := hitl.Recall(hitl.WithAsker(t.Context(), remembering{err: errStore}), "known"); !errors.Is(err, errStore) {
		t.Errorf("got %v, want the asker's error", err)
	}
}
