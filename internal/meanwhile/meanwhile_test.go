package meanwhile_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/a2aexec/a2aexec/internal/meanwhile"
)

func TestRead(t *testing.T) {
	t.Parallel()
	torn, full := errors.New("torn"), errors.New("full")
	for name, c := range map[string]struct{ read, write error }{
		"both well": {nil, nil}, "a read fails": {torn, nil}, "a write fails": {nil, full}, "both fail": {torn, full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads atomic.Int32 // the reader does not stop for the writer
			err := meanwhile.Read(
				func() error { reads.Add(1); return c.read },
				func() error {
					if reads.Load() == 0 {
						t.Error("nobody had read")
					}
					return c.write
				})
			if want := errors.Join(c.write, c.read); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("got %v after %d reads, want %v", err, reads.Load(), want)
			}
		})
	}
}
