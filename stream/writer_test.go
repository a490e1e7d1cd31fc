package stream_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/stream"
)

// write is one call of user code.
type write func(w *stream.Writer) error

func text(s string) write { return func(w *stream.Writer) error { return w.Text(s) } }

func textTo(name, s string, opts ...stream.ArtifactOption) write {
	return func(w *stream.Writer) error { return w.Artifact(name, opts...).Text(s) }
}

func closeOf(name string) write {
	return func(w *stream.Writer) error { return w.Artifact(name).Close() }
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		do      []write
		want    []string
		closing []string
	}{
		{name: "nothing"},
		{
			name:    "the first chunk does not append, later ones do",
			do:      []write{text("a"), text("b")},
			want:    []string{`"" text:"a"`, `"" + text:"b"`},
			closing: []string{`"" + text:"" last`},
		},
		{
			name: "all kinds of parts, in order",
			do: []write{
				text("a"),
				func(w *stream.Writer) error { return w.Data(map[string]any{"n": 1}) },
				func(w *stream.Writer) error { return w.File(stream.File{Name: "f", Bytes: []byte("xyz")}) },
				func(w *stream.Writer) error { return w.Artifact("n").Data([]int{1}) },
				func(w *stream.Writer) error { return w.Artifact("n").File(stream.File{URI: "http://f"}) },
			},
			want:    []string{`"" text:"a"`, `"" + data:map[n:1]`, `"" + file:f:xyz`, `"n" data:[1]`, `"n" + file::http://f`},
			closing: []string{`"" + text:"" last`, `"n" + text:"" last`},
		},
		{
			name: "empty text sends nothing and opens nothing",
			do:   []write{text(""), textTo("a", "")},
		},
		{
			name: "a null sends nothing and opens nothing",
			do: []write{
				func(w *stream.Writer) error { return w.Data(nil) },
				func(w *stream.Writer) error { return w.Artifact("a").Data((*int)(nil)) },
			},
		},
		{
			name:    "nothing found is an empty list",
			do:      []write{func(w *stream.Writer) error { return w.Data([]string(nil)) }},
			want:    []string{`"" data:[]`},
			closing: []string{`"" + text:"" last`},
		},
		{
			name:    "a closed artifact is not closed again",
			do:      []write{textTo("a", "1"), textTo("b", "2"), closeOf("a"), closeOf("a")},
			want:    []string{`"a" text:"1"`, `"b" text:"2"`, `"a" + text:"" last`},
			closing: []string{`"b" + text:"" last`},
		},
		{
			name: "closing one that was never written sends nothing",
			do:   []write{closeOf("a"), closeOf("")},
		},
		{
			name:    "closing comes in the order of the first chunks",
			do:      []write{textTo("a", ""), textTo("b", "1"), textTo("a", "2"), textTo("c", "3"), textTo("b", "4")},
			want:    []string{`"b" text:"1"`, `"a" text:"2"`, `"c" text:"3"`, `"b" + text:"4"`},
			closing: []string{`"b" + text:"" last`, `"a" + text:"" last`, `"c" + text:"" last`},
		},
		{
			name:    "the empty name is the default artifact",
			do:      []write{text("a"), textTo("", "b")},
			want:    []string{`"" text:"a"`, `"" + text:"b"`},
			closing: []string{`"" + text:"" last`},
		},
		{
			name: "a description counts until the first chunk",
			do: []write{
				textTo("a", "", stream.Description("draft")),
				textTo("a", "1", stream.Description("final"), stream.ArtifactOption{}),
				textTo("a", "2", stream.Description("too late")),
			},
			want:    []string{`"a" (final) text:"1"`, `"a" (final) + text:"2"`},
			closing: []string{`"a" (final) + text:"" last`},
		},
		{
			name: "a description is not lost with the handle it was given to",
			do: []write{
				func(w *stream.Writer) error { w.Artifact("a", stream.Description("kept")); return nil },
				textTo("a", "1"),
			},
			want:    []string{`"a" (kept) text:"1"`},
			closing: []string{`"a" (kept) + text:"" last`},
		},
		{
			name:    "names and descriptions that are not UTF-8",
			do:      []write{textTo("r\xff", "1\xff", stream.Description("d\xff"))},
			want:    []string{"\"r\uFFFD\" (d\uFFFD) text:\"1\uFFFD\""},
			closing: []string{"\"r\uFFFD\" (d\uFFFD) + text:\"\" last"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			w, control := stream.New(rec)
			for i, do := range tc.do {
				if err := do(w); err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			}
			if got := control.Wrote(); got != (len(tc.want) > 0) {
				t.Errorf("Wrote: got %v", got)
			}
			wrote, closing := control.Close()
			if diff := cmp.Diff(append([]string{}, tc.want...), lines(rec.chunks)); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, tc.closing...), lines(closing)); diff != "" {
				t.Errorf("closing chunks (-want +got):\n%s", diff)
			}
			if wrote != (len(tc.want) > 0) {
				t.Errorf("Close: wrote is %v after %d chunks", wrote, len(tc.want))
			}
			if problem := illegal(slices.Concat(rec.chunks, closing)); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// everyWrite calls each method that writes, for artifact "a" and the default one.
func everyWrite(w *stream.Writer) map[string]error {
	a := w.Artifact("a", stream.Description("d"))
	return map[string]error{
		"Text":           w.Text("x"),
		"empty Text":     w.Text(""),
		"Data":           w.Data(1),
		"null Data":      w.Data(nil),
		"File":           w.File(stream.File{}),
		"Progress":       w.Progress("x"),
		"empty Progress": w.Progress(""),
		"Artifact.Text":  a.Text("x"),
		"Artifact.Data":  a.Data(1),
		"Artifact.File":  a.File(stream.File{}),
		"Artifact.Close": a.Close(),
	}
}

func TestWritesAfterTheEnd(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	ended, control := stream.New(rec)
	if err := errors.Join(ended.Text("1"), ended.Artifact("a").Text("2")); err != nil {
		t.Fatal(err)
	}
	control.Close()
	cases := []struct {
		name string
		w    *stream.Writer
	}{
		{"after Control.Close", ended},
		{"nil Writer", nil},
		{"zero Writer", &stream.Writer{}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for call, err := range everyWrite(tc.w) {
				if !errors.Is(err, stream.ErrClosed) {
					t.Errorf("%s: got %v, want ErrClosed", call, err)
				}
			}
		})
	}
	t.Cleanup(func() {
		if len(rec.chunks) != 2 || len(rec.progress) != 0 {
			t.Errorf("after the end the sink got %q %q", lines(rec.chunks), rec.progress)
		}
	})
}

func TestZeroArtifactIsClosed(t *testing.T) {
	t.Parallel()
	var a stream.Artifact
	for i, err := range []error{a.Text("x"), a.Data(1), a.File(stream.File{}), a.Close()} {
		if !errors.Is(err, stream.ErrClosed) {
			t.Errorf("call %d: got %v, want ErrClosed", i, err)
		}
	}
}

func TestClosedArtifactOnlyIsClosed(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	w, control := stream.New(rec)
	a := w.Artifact("a")
	if err := errors.Join(a.Text("1"), a.Close()); err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{a.Text("x"), a.Text(""), a.Data(1), a.File(stream.File{}), w.Artifact("a").Text("x")} {
		if !errors.Is(err, stream.ErrClosed) {
			t.Errorf("write %d to the closed artifact: got %v, want ErrClosed", i, err)
		}
	}
	if err := errors.Join(w.Text("2"), w.Artifact("b").Text("3"), w.Progress("4"), a.Close()); err != nil {
		t.Errorf("writes beside the closed artifact: %v", err)
	}
	_, closing := control.Close()
	want := []string{`"" + text:"" last`, `"b" + text:"" last`}
	if diff := cmp.Diff(want, lines(closing)); diff != "" {
		t.Errorf("closing chunks (-want +got):\n%s", diff)
	}
}

func TestCloseAgainGivesTheSame(t *testing.T) {
	t.Parallel()
	w, control := stream.New(&recorder{})
	if err := errors.Join(w.Text("1"), w.Artifact("a").Text("2")); err != nil {
		t.Fatal(err)
	}
	wrote1, closing1 := control.Close()
	if err := w.Text("3"); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("write: got %v", err)
	}
	wrote2, closing2 := control.Close()
	if !wrote1 || !wrote2 || !control.Wrote() {
		t.Errorf("wrote: got %v, then %v", wrote1, wrote2)
	}
	if diff := cmp.Diff(lines(closing1), lines(closing2)); diff != "" {
		t.Errorf("closing chunks (-first +second):\n%s", diff)
	}
}

func TestFailingSink(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		refuse  int
		do      []write
		want    []string
		closing []string
	}{
		{
			name: "a refused first chunk opens nothing", refuse: 0,
			do: []write{text("a")},
		},
		{
			name: "the chunk after a refused first one is the first", refuse: 0,
			do:      []write{text("a"), text("b")},
			want:    []string{`"" text:"b"`},
			closing: []string{`"" + text:"" last`},
		},
		{
			name: "a description still counts after a refused first chunk", refuse: 0,
			do:      []write{textTo("a", "1"), textTo("a", "2", stream.Description("d"))},
			want:    []string{`"a" (d) text:"2"`},
			closing: []string{`"a" (d) + text:"" last`},
		},
		{
			name: "the order of closing is that of what was sent", refuse: 0,
			do:      []write{textTo("a", "1"), textTo("b", "2"), textTo("a", "3")},
			want:    []string{`"b" text:"2"`, `"a" text:"3"`},
			closing: []string{`"b" + text:"" last`, `"a" + text:"" last`},
		},
		{
			name: "a refused later chunk is missing", refuse: 1,
			do:      []write{text("a"), text("b"), text("c")},
			want:    []string{`"" text:"a"`, `"" + text:"c"`},
			closing: []string{`"" + text:"" last`},
		},
		{
			name: "an artifact whose closing was refused is still open", refuse: 1,
			do:      []write{textTo("a", "1"), closeOf("a"), textTo("a", "2")},
			want:    []string{`"a" text:"1"`, `"a" + text:"2"`},
			closing: []string{`"a" + text:"" last`},
		},
		{
			name: "a refused progress message changes nothing", refuse: 0,
			do:      []write{func(w *stream.Writer) error { return w.Progress("p") }, text("a")},
			want:    []string{`"" text:"a"`},
			closing: []string{`"" + text:"" last`},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{refuse: map[int]bool{tc.refuse: true}}
			w, control := stream.New(rec)
			for i, do := range tc.do {
				err := do(w)
				if i == tc.refuse && !errors.Is(err, errSink) {
					t.Errorf("write %d: got %v, want the sink's error", i, err)
				}
				if i != tc.refuse && err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			}
			wrote, closing := control.Close()
			if diff := cmp.Diff(append([]string{}, tc.want...), lines(rec.chunks)); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, tc.closing...), lines(closing)); diff != "" {
				t.Errorf("closing chunks (-want +got):\n%s", diff)
			}
			if wrote != (len(tc.want) > 0) {
				t.Errorf("wrote: got %v", wrote)
			}
		})
	}
}

// A value of which nothing is left used to be sent as a null, which Go clients
// of the host's library cannot read.
func TestDataThatCannotBeSent(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	w, control := stream.New(rec)
	err := w.Data(make(chan int))
	if err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("got %v, want an error that names the type", err)
	}
	if wrote, _ := control.Close(); wrote || len(rec.chunks) != 0 {
		t.Errorf("sent %q", lines(rec.chunks))
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	w, control := stream.New(rec)
	if err := errors.Join(w.Progress("half"), w.Progress(""), w.Progress("w\xffay")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"half", "w\uFFFDay"}, rec.progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if wrote, closing := control.Close(); wrote || len(closing) != 0 {
		t.Errorf("progress counts as output: %v %q", wrote, lines(closing))
	}
}

// slowSink holds its first chunk until it is released.
type slowSink struct {
	recorder
	entered, release chan struct{}
}

func (s *slowSink) Chunk(c stream.Chunk) error {
	close(s.entered)
	<-s.release
	return s.recorder.Chunk(c)
}

func TestCloseWaitsForAWriteInFlight(t *testing.T) {
	t.Parallel()
	s := &slowSink{entered: make(chan struct{}), release: make(chan struct{})}
	w, control := stream.New(s)
	wrote := make(chan error, 1)
	go func() { wrote <- w.Artifact("a").Text("in flight") }()
	<-s.entered

	type closed struct {
		wrote bool
		sent  int
		lines []string
	}
	got := make(chan closed, 1)
	closer := make(chan struct{})
	go func() {
		close(closer)
		wrote, closing := control.Close()
		got <- closed{wrote, len(s.chunks), lines(closing)}
	}()
	<-closer
	for range 100 { // gives a Close that does not wait the chance to be caught
		runtime.Gosched()
	}
	select {
	case <-got:
		t.Fatal("Close returned while the sink handled a write")
	default:
	}
	close(s.release)
	want := closed{true, 1, []string{`"a" + text:"" last`}}
	if diff := cmp.Diff(want, <-got, cmp.AllowUnexported(closed{})); diff != "" {
		t.Errorf("Close (-want +got):\n%s", diff)
	}
	if err := <-wrote; err != nil {
		t.Errorf("the write in flight: %v", err)
	}
}

func TestASinkThatPanicsLeavesTheWriterUsable(t *testing.T) {
	t.Parallel()
	w, control := stream.New(panickingSink{})
	func() {
		defer func() { _ = recover() }()
		_ = w.Text("x")
	}()
	if wrote, closing := control.Close(); wrote || len(closing) != 0 {
		t.Errorf("a chunk the sink panicked on counts as sent: %v %q", wrote, lines(closing))
	}
}

type panickingSink struct{}

func (panickingSink) Chunk(stream.Chunk) error { panic("the sink panics") }
func (panickingSink) Progress(string) error    { panic("the sink panics") }

func TestContext(t *testing.T) {
	t.Parallel()
	if w, ok := stream.FromContext(context.Background()); ok || w != nil {
		t.Errorf("outside of a run: got %v, %v", w, ok)
	}
	outer, _ := stream.New(&recorder{})
	inner, _ := stream.New(&recorder{})
	ctx := stream.NewContext(context.Background(), outer)
	nested := stream.NewContext(ctx, inner)
	if w, ok := stream.FromContext(ctx); !ok || w != outer {
		t.Errorf("got %p, %v, want %p", w, ok, outer)
	}
	if w, ok := stream.FromContext(nested); !ok || w != inner {
		t.Errorf("nested: got %p, %v, want %p", w, ok, inner)
	}
}

// TestNewArtifact: artifacts of one name stay apart.
func TestNewArtifact(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	w, control := stream.New(r)
	shared, one, two := w.Artifact("report"), w.NewArtifact("report", stream.Description("first")), w.NewArtifact("report")
	for _, err := range []error{shared.Text("a"), one.Text("b"), two.Text("c"), w.NewArtifact("").Text("d"), w.Text("e"), one.Close(), two.Text("f")} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := one.Text("late"); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("a closed one: got %v", err)
	}
	_, closing := control.Close()
	var got []string
	for _, c := range append(r.sent(), closing...) {
		got = append(got, fmt.Sprintf("%q#%d %s append=%v last=%v %s", c.Artifact.Name, c.Artifact.Number, render(c.Parts[0]), c.Append, c.Last, c.Artifact.Description))
	}
	want := []string{
		`"report"#0 text:"a" append=false last=false `,
		`"report"#1 text:"b" append=false last=false first`,
		`"report"#2 text:"c" append=false last=false `,
		`""#3 text:"d" append=false last=false `,
		`""#0 text:"e" append=false last=false `,
		`"report"#1 text:"" append=true last=true first`,
		`"report"#2 text:"f" append=true last=false `,
		`"report"#0 text:"" append=true last=true `,
		`"report"#2 text:"" append=true last=true `,
		`""#3 text:"" append=true last=true `,
		`""#0 text:"" append=true last=true `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
	var closed *stream.Writer
	if err := closed.NewArtifact("x").Text("y"); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("the nil writer: got %v", err)
	}
}
