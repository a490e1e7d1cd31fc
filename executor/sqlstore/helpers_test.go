package sqlstore_test

import (
	"context"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"go.uber.org/goleak"

	"github.com/a2aexec/a2aexec/executor/sqlstore"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// open opens a database for the length of a test.
func open(tb testing.TB, dsn string, opts ...sqlstore.Option) *sqlstore.DB {
	tb.Helper()
	db, err := sqlstore.Open(tb.Context(), dsn, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// asMe gives the context of a call by the user "me".
func asMe(ctx context.Context) context.Context {
	ctx, call := a2asrv.NewCallContext(ctx, nil)
	call.User = a2asrv.NewAuthenticatedUser("me", nil)
	return ctx
}

func updateOf(task *a2a.Task) *taskstore.UpdateRequest {
	return &taskstore.UpdateRequest{Task: task, Event: task}
}
