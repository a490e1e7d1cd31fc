package storetest

import (
	"context"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// RunOne runs one check of a task store.
func RunOne(ctx context.Context, name string, s taskstore.Store) error {
	for _, c := range checks {
		if c.name == name {
			return c.run(ctx, s)
		}
	}
	panic(fmt.Sprintf("there is no check %q", name))
}

// RunOnePush runs one check of a store of push configurations.
func RunOnePush(ctx context.Context, name string, s push.ConfigStore) error {
	for _, c := range pushChecks {
		if c.name == name {
			return c.run(ctx, s)
		}
	}
	panic(fmt.Sprintf("there is no check %q", name))
}
