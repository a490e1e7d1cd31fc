package executor_test

import (
	"bytes"
	"os"
	"sync"
)

// long reports whether the longer runs are asked for, as CI does.
func long() bool { return os.Getenv("A2AEXEC_LONG") != "" }

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
