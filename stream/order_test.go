package stream_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/stream"
)

// op is one write of a random program.
type op struct {
	artifact string
	kind     string
	token    string // what a write carries; unique
	err      error  // what the write returned
}

func (o op) do(w *stream.Writer) error {
	a := w.Artifact(o.artifact)
	switch o.kind {
	case "text":
		return a.Text(o.token)
	case "empty":
		return a.Text("")
	case "data":
		return a.Data(map[string]any{"token": o.token})
	case "file":
		return a.File(stream.File{Bytes: []byte(o.token)})
	case "progress":
		return w.Progress(o.token)
	default:
		return a.Close()
	}
}

func (o op) carries() bool { return o.kind == "text" || o.kind == "data" || o.kind == "file" }

var kinds = []string{"text", "text", "text", "data", "file", "empty", "progress", "close"}

// programs draws what each of several goroutines writes.
func programs(t *rapid.T) [][]op {
	threads := make([][]op, rapid.IntRange(1, 5).Draw(t, "threads"))
	for i := range threads {
		for j := range rapid.IntRange(0, 12).Draw(t, "writes") {
			threads[i] = append(threads[i], op{
				artifact: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "artifact"),
				kind:     rapid.SampledFrom(kinds).Draw(t, "kind"),
				token:    fmt.Sprintf("%d.%d;", i, j),
			})
		}
	}
	return threads
}

func refusals(t *rapid.T) map[int]bool {
	refuse := map[int]bool{}
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 20), 0, 4).Draw(t, "refused calls") {
		refuse[n] = true
	}
	return refuse
}

// token finds what a part carries, "" for the one that closes an artifact.
func token(p stream.Part) string {
	switch p.Kind() {
	case stream.KindData:
		m, _ := p.Data().(map[string]any)
		s, _ := m["token"].(string)
		return s
	case stream.KindFile:
		return string(p.File().Bytes)
	default:
		return p.Text()
	}
}

func tokens(chunks []stream.Chunk) map[string][]string {
	out := map[string][]string{}
	for _, c := range chunks {
		for _, p := range c.Parts {
			if s := token(p); s != "" {
				out[c.Artifact.Name] = append(out[c.Artifact.Name], s)
			}
		}
	}
	return out
}

// Whatever several goroutines write at once, and whatever the reader refuses,
// the chunks are legal, and each artifact holds what was accepted for it, each
// goroutine's own writes in its own order.
func TestConcurrentWritersAreLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rec := &recorder{refuse: refusals(t)}
		threads := programs(t)
		closeEarly := rapid.Bool().Draw(t, "close while they write")
		w, control := stream.New(rec)

		var writers sync.WaitGroup
		for _, ops := range threads {
			writers.Go(func() {
				for i := range ops {
					ops[i].err = ops[i].do(w)
				}
			})
		}
		if !closeEarly {
			writers.Wait()
		}
		_, closing := control.Close()
		writers.Wait()

		if rec.overlap {
			t.Fatal("the sink was called twice at once")
		}
		sent := slices.Concat(rec.chunks, closing)
		if problem := illegal(sent); problem != "" {
			t.Fatalf("%s:\n%s", problem, strings.Join(lines(sent), "\n"))
		}
		checkComplete(t, sent)
		checkContent(t, threads, rec)
	})
}

func checkComplete(t *rapid.T, sent []stream.Chunk) {
	open := map[string]bool{}
	for _, c := range sent {
		open[c.Artifact.Name] = !c.Last
	}
	for name, still := range open {
		if still {
			t.Fatalf("artifact %q was never closed", name)
		}
	}
}

func checkContent(t *rapid.T, threads [][]op, rec *recorder) {
	got := tokens(rec.chunks)
	accepted := map[string]int{}
	for i, ops := range threads {
		want := map[string][]string{}
		for _, o := range ops {
			if o.err == nil && o.carries() {
				want[o.artifact] = append(want[o.artifact], o.token)
				accepted[o.artifact]++
			}
			if o.err != nil && !errors.Is(o.err, errSink) && !errors.Is(o.err, stream.ErrClosed) {
				t.Fatalf("write %+v: %v", o, o.err)
			}
		}
		own := map[string][]string{}
		for name, all := range got {
			for _, s := range all {
				if strings.HasPrefix(s, fmt.Sprintf("%d.", i)) {
					own[name] = append(own[name], s)
				}
			}
		}
		if diff := cmp.Diff(want, own); diff != "" {
			t.Fatalf("what goroutine %d wrote (-accepted +sent):\n%s", i, diff)
		}
	}
	for name, all := range got {
		if len(all) != accepted[name] {
			t.Fatalf("artifact %q: %d parts sent, %d accepted", name, len(all), accepted[name])
		}
	}
}

// One goroutine's program gives exactly the chunks that a model of the
// contract gives.
func TestOneWriterFollowsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rec := &recorder{refuse: refusals(t)}
		m := model{refuse: rec.refuse, state: map[string]string{}}
		w, control := stream.New(rec)
		for _, o := range slices.Concat(programs(t)...) {
			want := m.do(o)
			if err := o.do(w); !errors.Is(err, want) || want == nil && err != nil {
				t.Fatalf("%+v: got %v, want %v", o, err, want)
			}
		}
		_, closing := control.Close()
		for _, name := range m.order {
			if m.state[name] == "open" {
				m.sent = append(m.sent, fmt.Sprintf("%q + last", name))
			}
		}
		if diff := cmp.Diff(m.sent, short(slices.Concat(rec.chunks, closing))); diff != "" {
			t.Fatalf("chunks (-model +got):\n%s", diff)
		}
	})
}

// model is what the documentation promises, in a few lines.
type model struct {
	refuse map[int]bool
	calls  int
	state  map[string]string // by artifact: "" unknown, "open", "closed"
	order  []string
	sent   []string
}

func (m *model) do(o op) error {
	state := m.state[o.artifact]
	switch {
	case o.kind == "progress":
		return m.call("")
	case o.kind == "close" && state == "open":
		if err := m.call(fmt.Sprintf("%q + last", o.artifact)); err != nil {
			return err
		}
		m.state[o.artifact] = "closed"
		return nil
	case o.kind == "close":
		m.state[o.artifact] = "closed"
		return nil
	case state == "closed":
		return stream.ErrClosed
	case o.kind == "empty":
		return nil
	case state == "open":
		return m.call(fmt.Sprintf("%q + %s", o.artifact, o.token))
	}
	if err := m.call(fmt.Sprintf("%q %s", o.artifact, o.token)); err != nil {
		return err
	}
	m.state[o.artifact] = "open"
	m.order = append(m.order, o.artifact)
	return nil
}

func (m *model) call(line string) error {
	m.calls++
	if m.refuse[m.calls-1] {
		return errSink
	}
	if line != "" {
		m.sent = append(m.sent, line)
	}
	return nil
}

func short(chunks []stream.Chunk) []string {
	var out []string
	for _, c := range chunks {
		s := fmt.Sprintf("%q ", c.Artifact.Name)
		if c.Append {
			s += "+ "
		}
		if c.Last {
			s += "last"
		}
		for _, p := range c.Parts {
			s += token(p)
		}
		out = append(out, s)
	}
	return out
}
