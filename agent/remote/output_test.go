package remote

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/stream"
)

// forwarded is a sink that puts together what arrives, by artifact.
type forwarded struct {
	text  map[stream.Info]string
	order []stream.Info
}

func (f *forwarded) Chunk(c stream.Chunk) error {
	if _, known := f.text[c.Artifact]; !known {
		f.order = append(f.order, c.Artifact)
	}
	for _, p := range c.Parts {
		f.text[c.Artifact] += render(p)
	}
	return nil
}

func (f *forwarded) Progress(string) error { return nil }

func render(p stream.Part) string {
	if p.Kind() == stream.KindText {
		return p.Text()
	}
	return "{}"
}

// TestOutputProperty: however a remote cuts its artifacts into updates, repeats
// them or sends snapshots of them, each part arrives once and in order.
func TestOutputProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sink := &forwarded{text: map[stream.Info]string{}}
		w, _ := stream.New(sink)
		want := map[string][]stream.Part{}
		var ids []string
		seen := map[string]int{}
		o := newOutput(w, 1<<20, seen)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "artifact")
			if _, known := want[id]; !known {
				ids = append(ids, id)
			}
			p := stream.TextPart(rapid.StringMatching(`[xy]{0,3}é?`).Draw(t, "text"))
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				p = stream.DataPart(map[string]any{"n": 1})
			}
			_, known := want[id]
			want[id] = append(want[id], p)
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0: // an update
				add(t, o, piece{id: id, parts: []stream.Part{p}, more: known})
			case 1: // the whole so far, in place of an update
				add(t, o, piece{id: id, parts: merged(want[id])})
			default: // a snapshot, after the update
				add(t, o, piece{id: id, parts: []stream.Part{p}, more: known})
				var all []piece
				for _, i := range ids {
					all = append(all, piece{id: i, parts: want[i]})
				}
				add(t, o, all...)
			}
		}
		var whole, arrived []string
		for _, id := range ids {
			whole = appendText(whole, want[id])
		}
		for _, info := range sink.order {
			if s := sink.text[info]; s != "" {
				arrived = append(arrived, s)
			}
		}
		var collected []string
		for _, a := range o.artifacts() {
			collected = appendText(collected, a.Parts)
		}
		if !cmp.Equal(sorted(whole), sorted(arrived)) || !cmp.Equal(sorted(whole), sorted(collected)) {
			t.Fatalf("sent %q, forwarded %q, collected %q", whole, arrived, collected)
		}
	})
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func add(t *rapid.T, o *output, ps ...piece) {
	if err := o.add(ps); err != nil {
		t.Fatal(err)
	}
}

func appendText(to []string, parts []stream.Part) []string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(render(p))
	}
	if b.Len() == 0 {
		return to
	}
	return append(to, b.String())
}

// merged is parts with texts that follow each other as one, as stores keep them.
func merged(parts []stream.Part) []stream.Part {
	a := &artifact{}
	for _, p := range parts {
		a.add(p)
	}
	return a.content()
}

// TestOutputOfAnEarlierRun: what an earlier run forwarded is not forwarded again
// but is part of the answer.
func TestOutputOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	sink := &forwarded{text: map[stream.Info]string{}}
	w, _ := stream.New(sink)
	first := newOutput(w, 1<<20, nil)
	parts := []stream.Part{stream.TextPart("abc"), stream.DataPart(1), stream.TextPart("de")}
	if err := first.add([]piece{{id: "a", parts: parts}}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for id, n := range first.counts() {
		seen[id], _ = n.(int)
	}
	later := &forwarded{text: map[stream.Info]string{}}
	w, _ = stream.New(later)
	second := newOutput(w, 1<<20, seen)
	again := []stream.Part{stream.TextPart("ab"), stream.TextPart("c"), stream.DataPart(1), stream.TextPart("def"), stream.DataPart(2)}
	if err := second.add([]piece{{id: "a", parts: again}, {id: "b", parts: parts[:1]}}); err != nil {
		t.Fatal(err)
	}
	want := map[stream.Info]string{{Number: 1}: "f{}", {Number: 2}: "abc"}
	if diff := cmp.Diff(want, later.text); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
	if got := appendText(nil, second.artifacts()[0].Parts); got[0] != "abc{}def{}" {
		t.Errorf("collected %q", got)
	}
}

// TestManyPartsCostNoMoreThanTheyHold: an artifact of 240 KB whose parts were of
// two kinds by turns copied 6 GB, and one that was repeated in other pieces likewise.
func TestManyPartsCostNoMoreThanTheyHold(t *testing.T) { //nolint:paralleltest // counts what the program allocates
	const n = 20_000
	var parts, pieces []stream.Part
	for range n / 2 {
		parts = append(parts, stream.TextPart("ab"), stream.DataPart(1))
		pieces = append(pieces, stream.TextPart("a"), stream.TextPart("b"), stream.DataPart(1))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o := newOutput(nil, 1<<30, nil)
	for _, p := range []piece{{id: "a", parts: parts}, {id: "a", parts: pieces}, {id: "a", parts: parts}} {
		if err := o.add([]piece{p}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range parts { // as updates
		if err := o.add([]piece{{id: "b", more: true, parts: []stream.Part{p}}}); err != nil {
			t.Fatal(err)
		}
	}
	got := o.artifacts()
	runtime.ReadMemStats(&after)
	if len(got) != 2 || len(got[0].Parts) != n || len(got[1].Parts) != n {
		t.Errorf("got %d artifacts", len(got))
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 200 {
		t.Errorf("allocated %d MB", mb)
	}
}
