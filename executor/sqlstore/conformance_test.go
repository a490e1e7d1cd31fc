package sqlstore_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/a2aexec/a2aexec/executor/storetest"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/flow/flowtest"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db := open(t, dsn)
		storetest.Run(t, func(*testing.T) taskstore.Store { return db.Tasks() })
	})
}

func TestFlows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db := open(t, dsn)
		flowtest.Run(t, func(*testing.T) flow.Store { return db.Flows() })
	})
}

func TestPushConfigs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		db := open(t, dsn)
		storetest.RunPushConfigs(t, func(*testing.T) push.ConfigStore { return db.PushConfigs() })
	})
}
