package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/stream"
)

// sink remembers what was written.
type sink struct{ got []string }

func (s *sink) Chunk(c stream.Chunk) error {
	s.got = append(s.got, fmt.Sprintf("%s %s%v append=%t last=%t", c.Artifact.Name, c.Parts[0].Text(), c.Parts[0].Data(), c.Append, c.Last))
	return nil
}

func (s *sink) Progress(text string) error {
	s.got = append(s.got, "progress "+text)
	return nil
}

func TestEvents(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", func(ctx context.Context, _ trail) error {
		if l.ran("a") == 1 {
			return errDown
		}
		w, ok := stream.FromContext(ctx)
		if !ok {
			t.Error("no writer")
		}
		b := w.Artifact("report")
		for _, err := range []error{
			w.Text("one"), w.Data(map[string]any{"n": 2}), w.Progress("busy"), b.Text("three"), b.Close(), w.Text("four"),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		return nil
	}, flow.Retry(2), flow.Backoff(0, 0))
	l.chain(flow.START, a, flow.END)
	var got []string
	hook := func(_ context.Context, e flow.Event) {
		what := [...]string{"", "started", "ended", "retries", "wrote", "saved"}[e.Kind]
		line := fmt.Sprintf("%s %s %d %s/%s visit %d try %d", what, e.Run, e.Step, e.Node, e.NodeKind, e.Visit, e.Attempt)
		switch e.Kind {
		case flow.NodeEnded:
			line += fmt.Sprint(" ", e.Output, e.Err)
		case flow.NodeRetries:
			line += fmt.Sprint(" ", e.Err, " in ", e.Wait)
		case flow.NodeWrote:
			line += " " + e.Chunk.Artifact.Name + e.Chunk.Parts[0].Text()
		case flow.RunSaved:
			line += fmt.Sprint(" ", e.Seq)
		default:
		}
		got = append(got, line)
	}
	s := &sink{}
	w, _ := stream.New(s)
	ctx := stream.NewContext(t.Context(), w)
	must(l.compile(t).Run(ctx, "r", trail{}, flow.OnEvent(hook), flow.WithStore(flow.NewMemory())))(t)
	want := []string{
		"saved r 1 / visit 0 try 0 1",
		"started r 1 a/kind-a visit 1 try 1",
		"retries r 1 a/kind-a visit 1 try 1 invoke component bank: down in 0s",
		"wrote r 1 a/kind-a visit 1 try 0 one",
		"wrote r 1 a/kind-a visit 1 try 0 ",
		"wrote r 1 a/kind-a visit 1 try 0 reportthree",
		"wrote r 1 a/kind-a visit 1 try 0 report",
		"wrote r 1 a/kind-a visit 1 try 0 four",
		"ended r 1 a/kind-a visit 1 try 2 a<nil>",
		"saved r 2 / visit 0 try 0 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	wrote := []string{
		" one<nil> append=false last=false", " map[n:2] append=true last=false", "progress busy",
		"report three<nil> append=false last=false", "report <nil> append=true last=true", " four<nil> append=true last=false",
	}
	if diff := cmp.Diff(wrote, s.got); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

// TestHookKeepsArtifactsApart: artifacts of one name that a node made stay apart
// where a hook listens.
func TestHookKeepsArtifactsApart(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	a := l.node("a", func(ctx context.Context, _ trail) error {
		w, _ := stream.FromContext(ctx)
		one, two := w.NewArtifact("report"), w.NewArtifact("report")
		for _, err := range []error{one.Text("1"), two.Text("2"), one.Text("3"), one.Close(), two.Text("4")} {
			if err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	l.chain(flow.START, a, flow.END)
	s := &sink{}
	w, _ := stream.New(s)
	must(l.compile(t).Run(stream.NewContext(t.Context(), w), "r", trail{}, flow.OnEvent(func(context.Context, flow.Event) {})))(t)
	want := []string{
		"report 1<nil> append=false last=false", "report 2<nil> append=false last=false", "report 3<nil> append=true last=false",
		"report <nil> append=true last=true", "report 4<nil> append=true last=false",
	}
	if diff := cmp.Diff(want, s.got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}

// TestHookDoesNotChangeTheStream: with a hook, closing an artifact did nothing
// that another node, or the code before the flow, had begun.
func TestHookDoesNotChangeTheStream(t *testing.T) {
	t.Parallel()
	run := func(opts ...flow.RunOption) (log []string) {
		to := &sink{}
		w, _ := stream.New(to)
		say := func(id string, err error) { log = append(log, fmt.Sprint(id, " ", err)) }
		say("before", w.Artifact("y").Text("zero"))
		l := newLab("f")
		node := func(id string, do func(w *stream.Writer) error) flow.Ref {
			return l.node(id, func(ctx context.Context, _ trail) error {
				w, _ := stream.FromContext(ctx)
				say(id, do(w))
				return nil
			})
		}
		l.chain(flow.START,
			node("a", func(w *stream.Writer) error { return w.Artifact("x").Text("one ") }),
			node("b", func(w *stream.Writer) error { return w.Artifact("x").Close() }),
			node("c", func(w *stream.Writer) error { return w.Artifact("x").Text("two") }),
			node("d", func(w *stream.Writer) error { return errors.Join(w.Artifact("y").Close(), w.Progress("d")) }),
			node("e", func(w *stream.Writer) error { return w.Artifact("y").Text("late") }),
			node("f", func(w *stream.Writer) error { return w.NewArtifact("y").Text("another") }), flow.END)
		must(l.compile(t).Run(stream.NewContext(t.Context(), w), "r", trail{}, opts...))(t)
		say("after", w.Artifact("y").Text("late"))
		return append(log, to.got...)
	}
	bare := run()
	var told []string
	hooked := run(flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.NodeWrote {
			told = append(told, fmt.Sprint(e.Node, e.Chunk.Artifact.Name, e.Chunk.Append, e.Chunk.Last))
		}
	}))
	if diff := cmp.Diff(bare, hooked); diff != "" {
		t.Errorf("(-without +with a hook):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"axfalse false", "bxtrue true", "dytrue true", "fyfalse false"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestMetadataThroughTheHook: what a node writes keeps its metadata, also where a
// hook looks on.
func TestMetadataThroughTheHook(t *testing.T) {
	t.Parallel()
	l := newLab("f")
	about := map[string]any{"lang": "en"}
	a := l.node("a", func(ctx context.Context, _ trail) error {
		w, _ := stream.FromContext(ctx)
		return errors.Join(
			w.NewArtifact("fresh", stream.Metadata(about)).Part(stream.TextPart("x").WithMetadata(about)),
			w.Artifact("named", stream.Metadata(about)).Part(stream.TextPart("x").WithMetadata(about)))
	})
	l.chain(flow.START, a, flow.END)
	s := &labels{}
	w, _ := stream.New(s)
	hook := flow.OnEvent(func(context.Context, flow.Event) {})
	must(l.compile(t).Run(stream.NewContext(t.Context(), w), "r", trail{}, hook))(t)
	if diff := cmp.Diff([]map[string]any{about, about, about, about}, s.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// labels remembers the metadata of what was written.
type labels struct{ got []map[string]any }

func (s *labels) Chunk(c stream.Chunk) error {
	s.got = append(s.got, c.Metadata, c.Parts[0].Metadata())
	return nil
}

func (s *labels) Progress(string) error { return nil }
