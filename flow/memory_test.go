package flow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
)

// TestMemoryOwnsItsBytes: it writes over its own, never over those that it was
// given or has handed out.
func TestMemoryOwnsItsBytes(t *testing.T) {
	t.Parallel()
	m := flow.NewMemory()
	data := []byte("0")
	save := func(seq uint64, text string, keep int) {
		t.Helper()
		copy(data, text) // whoever saves uses their space again
		if err := m.Save(t.Context(), flow.Checkpoint{Run: "r", Seq: seq, Data: data, Keep: keep}); err != nil {
			t.Fatal(err)
		}
	}
	type handed struct {
		want string
		got  flow.Checkpoint
	}
	var out []handed
	load := func(want string) {
		t.Helper()
		c, err := m.Load(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, handed{want, c})
	}
	for range 2 { // the second time with what is left of the first
		save(1, "1", 1)
		load("1")
		save(2, "2", 1)
		save(3, "3", 1)
		load("3")
		save(4, "4", 0)
		load("4")
		save(5, "5", 1)
		save(6, "6", 1)
		load("6")
		for range 2 {
			if err := m.Delete(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
		save(1, "a", 1)
		save(2, "b", 1)
		if err := m.Delete(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range out {
		if diff := cmp.Diff(h.want, string(h.got.Data)); diff != "" {
			t.Errorf("checkpoint %d (-want +got):\n%s", h.got.Seq, diff)
		}
	}
}
