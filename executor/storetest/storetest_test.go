package storetest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/executor/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host gives the host's store in memory.
func host() *taskstore.InMemory {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: a2asrv.NewTaskStoreAuthenticator()})
}

// ofEverybody gives a store in which all tasks are everybody's.
func ofEverybody() taskstore.Store {
	return taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "everybody", nil },
	})
}

func TestSound(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) taskstore.Store { return sound() })
	if err := storetest.TestStore(t.Context(), sound()); err != nil {
		t.Error(err)
	}
}

// The host's store in memory keeps all promises but one: its lists are in the
// order of the last writes.
func TestHost(t *testing.T) {
	t.Parallel()
	err := storetest.TestStore(t.Context(), host())
	if err == nil || !strings.HasPrefix(err.Error(), "a list has the newest status first: ") || len(joined(err)) != 1 {
		t.Errorf("got %v", err)
	}
}

// joined gives the errors that an error joins.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return nil
}

// All checks run, whatever one of them comes to, and each violation is told.
func TestViolationsAreJoined(t *testing.T) {
	t.Parallel()
	err := storetest.TestPushConfigs(t.Context(), rudePush{push.NewInMemoryStore()})
	if n := len(joined(err)); n < 2 || !strings.Contains(err.Error(), "panic: no") {
		t.Errorf("got %d violations: %v", n, err)
	}
}

func TestHostPushConfigs(t *testing.T) {
	t.Parallel()
	storetest.RunPushConfigs(t, func(*testing.T) push.ConfigStore { return push.NewInMemoryStore() })
	if err := storetest.TestPushConfigs(t.Context(), push.NewInMemoryStore()); err != nil {
		t.Error(err)
	}
}

// Each of these stores breaks one promise, most of them in one corner. A store
// that leaks or lies must not pass.
func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		store taskstore.Store
		check string // that finds it
	}{
		{"takes any version", careless{sound()}, "an update of an old version is a conflict and changes nothing"},
		{"shows everybody's tasks", ofEverybody(), "another user's task is not there"},
		{"loses metadata", lossy{sound()}, "what was created is got"},
		{"panics", rude{sound()}, "what was created is got"},
		{"ends its caller's goroutine", quitter{sound()}, "of many that update one version one wins"},
		{"ends its writer's goroutine", quitter{sound()}, "a reader sees whole tasks only"},
		{"panics while it is read", rude{sound()}, "a reader sees whole tasks only"},
		{"has one page", unpaged{sound()}, "pages are stable while tasks come and change"},
		{"shows everybody's tasks of a context", leaky{newShadowed()}, "a list is filtered"},
		{"shows everybody's tasks on the second page", leakyPage{newShadowed()}, "every page is filtered"},
		{"counts everybody's tasks", counting{newShadowed()}, "a list has the caller's tasks"},
		{"shows whose list a token is of", tokenful{sound()}, "a page token is of no use to others"},
		{"shows everybody's tasks to nobody", nobodys{newShadowed()}, "a list for nobody has nobody's tasks"},
		{"lets anybody update without a version", grabbing{newShadowed()}, "another user's task is not there"},
		{"takes user names for one", caseless(), "names that are nearly the same are several"},
		{"finds contexts that begin alike", loose{sound()}, "names that are nearly the same are several"},
		{"drops the filter on the second page", forgetful{sound()}, "every page is filtered"},
		{"drops the shortening on the second page", generous{sound()}, "every page is shortened"},
		{"filters by the first state", newStale(byState), "a filter goes by what a task is now"},
		{"filters by the first context", newStale(byContext), "a filter goes by what a task is now"},
		{"filters by the first time", newStale(byTime), "a filter goes by what a task is now"},
		{"turns far times round", overflowing{sound()}, "a filter takes any time"},
		{"orders by the last write", host(), "a list has the newest status first"},
		{"has tokens that are a time only", tied{sound()}, "tasks of one time are on one page each"},
		{"shares what it lists", newSharing(), "what is given and got is not shared"},
		{"fails an update and does it", halfway{sound()}, "an update of an old version is a conflict and changes nothing"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if storetest.RunOne(t.Context(), tc.check, tc.store) == nil {
				t.Errorf("it passes %q", tc.check)
			}
		})
	}
}

func TestBrokenPushStoresAreFound(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		store push.ConfigStore
		check string // that finds it
	}{
		{"panics", rudePush{push.NewInMemoryStore()}, "a configuration without an id gets one"},
		{"takes ids for one", caselessPush{push.NewInMemoryStore()}, "names that are nearly the same are several"},
		{"shares what it saves", &sharingPush{push.NewInMemoryStore(), nil}, "what is given and got is not shared"},
		{"deletes all", greedyPush{push.NewInMemoryStore()}, "tasks are kept apart, and deleting is for one of them"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if storetest.RunOnePush(t.Context(), tc.check, tc.store) == nil {
				t.Errorf("it passes %q", tc.check)
			}
		})
	}
}
