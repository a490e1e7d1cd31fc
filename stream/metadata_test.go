package stream_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/stream"
)

// limit counts what a Writer takes.
type limit struct {
	*recorder
	size int
}

func (l *limit) Take(size int) error { l.size += size; return nil }

// TestMetadata: that of an artifact goes out once, with its first chunk, and that
// of a part stays with its part, however much is merged.
func TestMetadata(t *testing.T) {
	t.Parallel()
	bold := map[string]any{"bold": true}
	for name, buffer := range map[string]stream.Buffer{
		"at once": {}, "merged": {Bytes: 1 << 20, First: time.Hour, Longest: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &limit{recorder: &recorder{}}
			w, control := stream.NewBuffered(l, buffer)
			about := map[string]any{"pages": 2, "lost": make(chan int)}
			a := w.NewArtifact("report", stream.Metadata(about))
			about["pages"] = 3 // the caller's own again
			late := w.NewArtifact("late", stream.Metadata(map[string]any{}))
			plain := w.NewArtifact("plain", stream.Metadata(nil))
			err := errors.Join(a.Text("a"), a.Text("b"), a.Part(stream.TextPart("c").WithMetadata(bold)), a.Text("d"), late.Text("x"), plain.Text("y"))
			_, closing := control.Close()
			var got []any
			text := ""
			for _, c := range append(l.sent(), closing...) {
				if c.Artifact.Name == "report" {
					got = append(got, c.Metadata)
				} else if c.Metadata != nil {
					t.Errorf("metadata of nothing: %v", c.Metadata)
				}
				for _, p := range c.Parts {
					if p.Metadata() != nil {
						text += "<" + p.Text() + ">"
						if diff := cmp.Diff(bold, p.Metadata()); diff != "" {
							t.Errorf("of a part (-want +got):\n%s", diff)
						}
					} else if c.Artifact.Name == "report" {
						text += p.Text()
					}
				}
			}
			if diff := cmp.Diff(map[string]any{"pages": 2.0}, got[0]); err != nil || diff != "" {
				t.Errorf("of the artifact: %v (-want +got):\n%s", err, diff)
			}
			for _, m := range got[1:] {
				if m, _ := m.(map[string]any); m != nil {
					t.Errorf("again: %v", m)
				}
			}
			if text != "ab<c>d" || l.size < len("abcd")+len("pages")+len("bold") {
				t.Errorf("got %q, of %d bytes", text, l.size)
			}
		})
	}
	if m := stream.TextPart("x").WithMetadata(bold).WithMetadata(nil).Metadata(); m != nil {
		t.Errorf("no metadata became %v", m)
	}
	lost := stream.TextPart("x").WithMetadata(map[string]any{"c": make(chan int)})
	if lost.Metadata() != nil || len(lost.Dropped()) != 1 {
		t.Errorf("got %v, dropped %v", lost.Metadata(), lost.Dropped())
	}
}
