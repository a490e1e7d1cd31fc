package stream_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aexec/a2aexec/stream"
)

var buffer = stream.Buffer{Bytes: 16 << 10, First: 30 * time.Millisecond, Longest: 250 * time.Millisecond}

// textIn is the text of all chunks of an artifact.
func textIn(chunks []stream.Chunk, name string) string {
	var b strings.Builder
	for _, c := range chunks {
		if c.Artifact.Name == name {
			for _, p := range c.Parts {
				b.WriteString(p.Text())
			}
		}
	}
	return b.String()
}

func TestBufferMergesABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		var want strings.Builder
		for i := range 5000 {
			chunk := fmt.Sprintf("chunk number %6d ", i)
			want.WriteString(chunk)
			if err := w.Text(chunk); err != nil {
				t.Fatal(err)
			}
			if i == 0 && len(r.sent()) != 1 {
				t.Error("the first chunk waits")
			}
		}
		_, closing := control.Close()
		all := slices.Concat(r.sent(), closing)
		if got := textIn(all, ""); got != want.String() {
			t.Errorf("content: got %d bytes, want %d", len(got), want.Len())
		}
		if len(all) > 10 || !all[len(all)-1].Last {
			t.Errorf("%d chunks", len(all))
		}
	})
}

// TestBufferOfALongBurst: each chunk costs the host work in proportion to all that
// came before it, so 8 MiB in chunks of 16 KiB took ten seconds.
func TestBufferOfALongBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		var want strings.Builder
		for i := range 8 << 10 {
			chunk := fmt.Sprintf("%1023d\n", i)
			want.WriteString(chunk)
			if err := w.Artifact(fmt.Sprint(i % 3)).Text(chunk); err != nil {
				t.Fatal(err)
			}
		}
		sent := r.sent()
		_, closing := control.Close()
		before, cost, largest := 0, 0, 0
		for _, c := range slices.Concat(sent, closing) {
			n := len(c.Parts[0].Text())
			cost += before
			before += n
			largest = max(largest, n)
		}
		if before != want.Len() || cost > 40*want.Len() || largest > 1<<20 {
			t.Errorf("%d of %d bytes in %d chunks of at most %d, %d times as many before them",
				before, want.Len(), len(sent), largest, cost/want.Len())
		}
	})
}

// TestBufferOfAPacedStream: two minutes of 100 chunks a second, on a clock that
// advances itself.
func TestBufferOfAPacedStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		var worst time.Duration
		for i := range 12_000 {
			before := time.Now()
			if err := w.Text(fmt.Sprintf("%05d, 20 bytes long", i)); err != nil {
				t.Fatal(err)
			}
			worst = max(worst, time.Since(before))
			time.Sleep(10 * time.Millisecond)
		}
		_, closing := control.Close()
		if n := len(r.sent()) + len(closing); n > 600 {
			t.Errorf("%d chunks, want at most 600", n)
		}
		if got := len(textIn(slices.Concat(r.sent(), closing), "")); got != 12_000*20 {
			t.Errorf("%d bytes, want %d", got, 12_000*20)
		}
		if worst > 0 {
			t.Errorf("a write took %v", worst)
		}
	})
}

func TestBufferSendsAtOnceAfterAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, _ := stream.NewBuffered(&r, buffer)
		for i := range 5 {
			if err := w.Text("x"); err != nil {
				t.Fatal(err)
			}
			if len(r.sent()) != i+1 {
				t.Errorf("after %d slow writes: %d chunks", i+1, len(r.sent()))
			}
			time.Sleep(time.Second)
		}
	})
}

func TestBufferSendsWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		if err := errors.Join(w.Text("a"), w.Text("b"), w.Data(1), w.Text("c"), w.Text("d"), w.Artifact("x").Text("1"), w.Artifact("x").Text("2")); err != nil {
			t.Fatal(err)
		}
		if len(r.sent()) != 1 { // the first of all
			t.Fatalf("at once: %v", lines(r.sent()))
		}
		time.Sleep(40 * time.Millisecond)
		synctest.Wait()
		if len(r.sent()) != 3 || len(r.sent()[1].Parts) != 3 || r.sent()[2].Append || textIn(r.sent(), "") != "abcd" || textIn(r.sent(), "x") != "12" {
			t.Errorf("later: %v", lines(r.sent()))
		}
		if _, closing := control.Close(); len(closing) != 2 {
			t.Errorf("closing: %v", lines(closing))
		}
	})
}

func TestBufferedArtifactThatIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		a := w.Artifact("a")
		if err := errors.Join(a.Text("1"), a.Text("2"), a.Text("3"), a.Close(), w.Text("other"), w.Text("more")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if textIn(r.sent(), "a") != "123" || !r.sent()[1].Last || len(r.sent()) != 3 {
			t.Errorf("got %v", lines(r.sent()))
		}
		if _, closing := control.Close(); len(closing) != 1 {
			t.Errorf("closing: %v", lines(closing))
		}
	})
}

// A burst of artifacts cost two events each, one of them to say that nothing
// more comes.
func TestBufferOfManyArtifacts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		for i := range 100 {
			a := w.Artifact(fmt.Sprint("open", i))
			b := w.Artifact(fmt.Sprint("closed", i), stream.Description("d"))
			if err := errors.Join(a.Text("1"), b.Text("x"), b.Close(), a.Text("2")); err != nil {
				t.Fatal(err)
			}
		}
		if !control.Wrote() {
			t.Error("nothing counts as written")
		}
		_, closing := control.Close()
		all := slices.Concat(r.sent(), closing)
		begun := map[string]bool{}
		for _, c := range all {
			if c.Append != begun[c.Artifact.Name] || !c.Last && c.Artifact.Name != "open0" {
				t.Errorf("artifact %s: append %v, last %v", c.Artifact.Name, c.Append, c.Last)
			}
			begun[c.Artifact.Name] = true
		}
		if len(all) != 201 || textIn(all, "open99") != "12" || textIn(all, "closed7") != "x" {
			t.Errorf("%d chunks, want an event for each artifact and the first at once", len(all))
		}
	})
}

// A sink that fails once loses nothing of the artifacts that wait behind.
func TestBufferKeepsWhatWaitsBehindAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := recorder{refuse: map[int]bool{2: true}} // of artifact b
		w, control := stream.NewBuffered(&r, buffer)
		_ = errors.Join(w.Text("0"), w.Artifact("a").Text("a"), w.Artifact("b").Text("b"), w.Artifact("c").Text("c"))
		time.Sleep(time.Second)
		synctest.Wait()
		_, closing := control.Close()
		all := slices.Concat(r.sent(), closing)
		for _, name := range []string{"a", "b", "c"} {
			if textIn(all, name) != name {
				t.Errorf("artifact %s: got %q", name, textIn(all, name))
			}
		}
	})
}

func TestBufferOfProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		w, control := stream.NewBuffered(&r, buffer)
		for i := range 100 {
			if err := w.Progress(fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		control.Close()
		if n := len(r.progress); n > 5 || r.progress[0] != "0" || r.progress[n-1] != "99" {
			t.Errorf("got %v", r.progress)
		}
	})
}

func TestBufferWhoseSinkFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := recorder{refuse: map[int]bool{1: true}}
		w, control := stream.NewBuffered(&r, buffer)
		if err := errors.Join(w.Text("a"), w.Text("b")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if err := w.Text("c"); !errors.Is(err, errSink) {
			t.Errorf("got %v, want %v", err, errSink)
		}
		control.Close()
		if err := w.Text("d"); !errors.Is(err, stream.ErrClosed) {
			t.Errorf("got %v, want %v", err, stream.ErrClosed)
		}
	})
}

// TestBufferKeepsOrderAndContent writes at random, from several goroutines.
func TestBufferKeepsOrderAndContent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable
			var r recorder
			b := stream.Buffer{Bytes: rnd.IntN(200), First: time.Duration(rnd.IntN(50)) * time.Millisecond, Longest: 100 * time.Millisecond}
			w, control := stream.NewBuffered(&r, b)
			want := make([]string, 3)
			var wg sync.WaitGroup
			for i := range want {
				rnd := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // repeatable
				wg.Go(func() {
					a := w.Artifact(fmt.Sprint(i))
					for n := range rnd.IntN(50) {
						text := strings.Repeat(fmt.Sprint(n%10), rnd.IntN(30))
						want[i] += text
						if err := a.Text(text); err != nil {
							t.Error(err)
						}
						if rnd.IntN(3) == 0 {
							time.Sleep(time.Duration(rnd.IntN(40)) * time.Millisecond)
						}
						if rnd.IntN(5) == 0 {
							_ = w.Progress(text)
						}
					}
					if rnd.IntN(2) == 0 {
						_ = a.Close()
					}
				})
			}
			wg.Wait()
			_, closing := control.Close()
			all := slices.Concat(r.sent(), closing)
			for i, text := range want {
				if got := textIn(all, fmt.Sprint(i)); got != text {
					t.Errorf("seed %d, artifact %d: got %q, want %q", seed, i, got, text)
				}
			}
			if r.overlap {
				t.Errorf("seed %d: calls of the sink overlap", seed)
			}
			legal(t, all)
		})
	}
}

// legal checks the sequence of chunks.
func legal(t *testing.T, chunks []stream.Chunk) {
	t.Helper()
	open := map[string]bool{}
	for _, c := range chunks {
		_, known := open[c.Artifact.Name]
		if c.Append != known || known && !open[c.Artifact.Name] || len(c.Parts) == 0 {
			t.Errorf("illegal chunk %v", lines([]stream.Chunk{c}))
		}
		open[c.Artifact.Name] = !c.Last
	}
	for name, still := range open {
		if still {
			t.Errorf("artifact %q was not closed", name)
		}
	}
}

// refusing is a sink that takes an artifact's first chunk, and then nothing.
type refusing struct{ taken int }

func (r *refusing) Chunk(stream.Chunk) error {
	if r.taken++; r.taken > 1 {
		return stream.ErrClosed
	}
	return nil
}

func (*refusing) Progress(string) error { return nil }

// TestBufferKeepsWhatCouldNotBeFlushed: the code was told that it is taken, so
// where a run ends while it is being flushed, it closes the artifact.
func TestBufferKeepsWhatCouldNotBeFlushed(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*stream.Writer){
		"by its time": func(*stream.Writer) { time.Sleep(time.Second) },
		"by its size": func(w *stream.Writer) { _ = w.Text(strings.Repeat("x", buffer.Bytes)) },
		"by a close":  func(w *stream.Writer) { _ = w.Artifact("").Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, control := stream.NewBuffered(&refusing{}, buffer)
				for _, text := range []string{"first ", "held ", "back"} {
					if err := w.Text(text); err != nil {
						t.Fatal(err)
					}
				}
				end(w)
				_, closing := control.Close()
				if got := textIn(closing, ""); !strings.HasPrefix(got, "held back") || len(closing) != 1 || !closing[0].Last {
					t.Errorf("closing: got %q in %d chunks", got, len(closing))
				}
			})
		})
	}
}

// room is a sink that takes so many bytes.
type room struct {
	recorder
	left int
}

func (r *room) Take(size int) error {
	if r.left -= size; r.left < 0 {
		return errors.New("no room")
	}
	return nil
}

// TestLimiterIsAskedBeforeAnythingIsTaken, buffered or not.
func TestLimiterIsAskedBeforeAnythingIsTaken(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]stream.Buffer{"buffered": buffer, "not": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &room{left: 10}
			w, control := stream.NewBuffered(r, b)
			errs := []error{w.Text("12345"), w.Progress("678"), w.File(stream.File{Bytes: []byte("90")}), w.Text("!"), w.Progress("!"), w.Data(1)}
			for i, err := range errs {
				if (err != nil) != (i >= 3) {
					t.Errorf("write %d: got %v", i, err)
				}
			}
			_, closing := control.Close()
			if got := textIn(slices.Concat(r.sent(), closing), ""); got != "12345" {
				t.Errorf("sent %q", got)
			}
		})
	}
}
