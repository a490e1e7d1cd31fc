package interop

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

// TestClients starts the showcase, drives every client through every
// situation on every binding that both have, blocking and streaming, and
// compares what it received with the table: what the specification promises,
// less the client's known faults.
func TestClients(t *testing.T) {
	base := showcase(t)
	serves := listed(t, base)
	// Subtests run in parallel, but within a group that ends before the
	// showcase does.
	t.Run("client", func(t *testing.T) {
		for _, c := range clients {
			t.Run(c.id, func(t *testing.T) {
				t.Parallel()
				d := start(t, c, base)
				for _, b := range c.bindings {
					if !serves[b] {
						t.Logf("the server does not list %s", b)
						continue
					}
					for _, s := range situations {
						for _, mode := range []string{"blocking", "streaming"} {
							t.Run(strings.Join([]string{b, s.name, mode}, "/"), func(t *testing.T) {
								d.play(t, cell{c, b, s.name, mode}, s)
							})
						}
					}
				}
			})
		}
	})
}

// cell is one square of the matrix, in one mode.
type cell struct {
	client
	binding, situation, mode string
}

// play makes the calls of a situation.
func (d *driver) play(t *testing.T, at cell, s situation) {
	t.Helper()
	var task wire.Event // the ids of the situation's task
	for _, turn := range s.turns {
		want := at.expect(turn)
		if want == nil {
			return // the client cannot, as the page says
		}
		for _, req := range at.requests(turn) {
			if req.TaskID == "" {
				req.TaskID, req.ContextID = task.TaskID, task.ContextID
			}
			if at.id == "adk" && req.Op == "get" {
				compare(t, at, turn, outcome{State: stored(t, d.base, req.TaskID)}, *want)
				continue
			}
			reply := d.call(t, req)
			got, last := judge(reply, req.Op == "stream")
			if last.TaskID != "" {
				task = last
			}
			if req.Op == "submit" {
				continue
			}
			compare(t, at, turn, got, *want)
		}
	}
}

// requests are the calls that a turn takes: a blocking client cancels by a
// second call.
func (at cell) requests(turn turn) []wire.Request {
	req := turn.req
	req.Binding = at.binding
	switch {
	case turn.same:
		return []wire.Request{req}
	case at.mode == "streaming":
		req.Op = "stream"
		return []wire.Request{req}
	case req.Cancel:
		req.Op, req.Cancel = "submit", false
		return []wire.Request{req, {Binding: at.binding, Op: "cancel"}}
	}
	req.Op = "send"
	return []wire.Request{req}
}

// ideal is what the specification promises, in what the client can see of it.
func (at cell) ideal(turn turn) outcome {
	want := turn.want
	streamed := at.mode == "streaming" && !turn.same
	if streamed && want.Error == "" {
		want.Order = turn.order
		if at.tellsFinal {
			want.Final = "final"
		}
	}
	if at.mode == "streaming" && turn.falls {
		want.Data = maps.Clone(want.Data)
		want.Data["retried"] = json.Number("1")
	}
	if strings.HasSuffix(at.binding, "gRPC") {
		want.Activated = "" // no client shows what gRPC's metadata says
	}
	return want
}

// expect is the ideal less the client's known faults; nil where one of them
// makes the turn impossible.
func (at cell) expect(turn turn) *outcome {
	want := at.ideal(turn)
	for _, f := range faults {
		if f.applies(at, turn) {
			if f.alter == nil {
				return nil
			}
			f.alter(&want)
		}
	}
	return &want
}

func compare(t *testing.T, at cell, turn turn, got, want outcome) {
	t.Helper()
	diff := cmp.Diff(want, got)
	if diff == "" {
		return
	}
	call := strings.TrimSpace("call " + turn.name)
	if ideal := at.ideal(turn); reflect.DeepEqual(ideal, got) {
		var notes []string
		for _, f := range faults {
			if f.applies(at, turn) {
				notes = append(notes, f.note)
			}
		}
		t.Errorf("%s: all is well: remove the known fault (%s) from the table", call, strings.Join(slices.Compact(notes), ", "))
		return
	}
	t.Errorf("%s (-want +got):\n%s", call, diff)
}
