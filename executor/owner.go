package executor

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// anonymous owns the tasks of callers whom nobody has authenticated. No name of
// a user is like it: the host's store refuses to list for an empty one.
const anonymous = "(anonymous)"

// ownerOf is the taskstore.Authenticator of the default store.
func ownerOf(ctx context.Context) (string, error) {
	call, ok := a2asrv.CallContextFrom(ctx)
	if !ok {
		return "", a2a.ErrUnauthenticated
	}
	if call.User == nil || call.User.Name == "" {
		return anonymous, nil
	}
	return call.User.Name, nil
}

// theirs hides a task of somebody else, in case a store of the user's tells
// whose it is and leaves the rest to us: it does not exist (A2A v1.0 section
// 13.1).
func theirs(ctx context.Context, st *taskstore.StoredTask) bool {
	if st == nil || st.User == "" {
		return false
	}
	owner, err := ownerOf(ctx)
	return err == nil && st.User != owner
}
