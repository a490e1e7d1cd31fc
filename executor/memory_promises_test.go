package executor

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/executor/storetest"
)

// TestMemoryKeepsTheStoresPromises: the default store passes what is asked of
// others.
func TestMemoryKeepsTheStoresPromises(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) taskstore.Store { return newMemoryStore(a2asrv.NewTaskStoreAuthenticator(), 0, 0) })
}
