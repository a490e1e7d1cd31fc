package executor_test

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// repeats is how often a test of something random is repeated: a little, more
// in CI (A2AEXEC_LONG), or as often as A2AEXEC_REPEATS says.
func repeats(little, ci int) int {
	if n, err := strconv.Atoi(os.Getenv("A2AEXEC_REPEATS")); err == nil && n > 0 {
		return n
	}
	if os.Getenv("A2AEXEC_LONG") != "" {
		return ci
	}
	return little
}

// call is a context as a transport makes one for each request: the host writes
// to it.
func call(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := a2asrv.NewCallContext(t.Context(), nil)
	return ctx
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
