package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// stored is a checkpoint's content.
type stored struct {
	Version  int                        `json:"version"`
	Coded    bool                       `json:"coded"` // values are not JSON
	Flow     string                     `json:"flow"`
	Graph    string                     `json:"graph"`
	Run      string                     `json:"run"`
	Status   status                     `json:"status"`
	Step     int                        `json:"step"`
	Merged   bool                       `json:"merged"`
	Ended    bool                       `json:"ended"`
	Retries  int                        `json:"retries"`
	State    json.RawMessage            `json:"state"`
	Done     []storedVisit              `json:"done"`
	Front    []storedVisit              `json:"front"`
	Joins    []string                   `json:"joins"`
	Answers  map[string]json.RawMessage `json:"answers"`
	Memos    map[string]map[string]any  `json:"memos"`
	Effects  []storedEffect             `json:"effects"`
	Failures []storedVisit              `json:"failures"`
}

type storedVisit struct {
	Node     string          `json:"node"`
	Visit    int32           `json:"visit"`
	Phase    phase           `json:"phase"`
	Tolerant bool            `json:"tolerant"`
	Retries  int32           `json:"retries"`
	Out      json.RawMessage `json:"out"`
	Failure  json.RawMessage `json:"failure"`
	Asks     []storedAsk     `json:"asks"`
}

type storedEffect struct {
	Key    string          `json:"key"`
	Result json.RawMessage `json:"result"`

	Retries int `json:"retries"`
}

// parse reads a checkpoint and refuses those of others, and that of a finished
// run unless finished.
func (r *run[S]) parse(data []byte, finished bool) (*stored, error) {
	in := &stored{}
	if err := json.Unmarshal(data, in); err != nil {
		return nil, &StoreError{Op: "decode", Err: err}
	}
	_, plain := r.cfg.codec.(jsonCodec)
	switch {
	case in.Version != 1:
		return nil, &StoreError{Op: "decode", Err: fmt.Errorf("version %d is unknown", in.Version)}
	case in.Run != r.id || in.Flow != r.core.name:
		return nil, &StoreError{Op: "decode", Err: fmt.Errorf("it is of run %q of flow %q", in.Run, in.Flow)}
	case in.Status == statusDone && r.cfg.nest == nil && !finished:
		return nil, ErrFinished
	case in.Graph != r.core.hash && !r.cfg.anyway:
		return nil, ErrGraphChanged
	case in.Coded == plain:
		return nil, &StoreError{Op: "decode", Err: errors.New("it was made with another codec")}
	}
	if err := in.check(); err != nil {
		return nil, &StoreError{Op: "decode", Err: err}
	}
	in.complete()
	return in, nil
}

// check refuses what no run has written, with which one would end for no
// reason or run a node twice.
func (in *stored) check() error {
	if len(in.Front) == 0 && in.Status != statusDone {
		return errors.New("nothing is left to run, and yet the run is not done")
	}
	if in.Step < 0 || in.Retries < 0 {
		return fmt.Errorf("step %d, %d retries", in.Step, in.Retries)
	}
	seen := map[string]bool{}
	for _, v := range in.Front {
		switch {
		case seen[v.Node]:
			return fmt.Errorf("node %q has its turn twice", v.Node)
		case v.Phase > dropped:
			return fmt.Errorf("node %q: phase %d is unknown", v.Node, v.Phase)
		case v.Phase == done && v.Out == nil && !in.Merged:
			return fmt.Errorf("node %q: its output is missing", v.Node)
		}
		seen[v.Node] = true
	}
	return nil
}

// complete adds what is left out in most checkpoints: a visit is the first
// unless it says otherwise.
func (in *stored) complete() {
	for _, visits := range [][]storedVisit{in.Done, in.Front, in.Failures} {
		for i := range visits {
			visits[i].Visit = max(visits[i].Visit, 1)
		}
	}
}

// repeats reports whether a node has run twice.
func (in *stored) repeats() bool {
	return slices.ContainsFunc(slices.Concat(in.Done, in.Front, in.Failures), func(v storedVisit) bool { return v.Visit > 1 })
}

// restore puts a run into the state of a checkpoint.
func (r *run[S]) restore(in *stored) error {
	r.step, r.retries = in.Step, in.Retries
	r.merged, r.ended = in.Merged, in.Ended
	r.answers, r.memos = in.Answers, in.Memos
	if r.cfg.nest == nil { // else they are among the outer run's
		r.noteRetries(in.Retries)
	}
	if r.visits == nil && in.repeats() {
		r.visits = make([]int32, len(r.core.metas)) // the graph was another
	}
	err := r.decode(in.State, func(data []byte) error { return r.cfg.codec.Decode(data, &r.state) })
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	for i, v := range in.Done {
		if err := r.restoreDone(v, i-len(in.Done)); err != nil {
			return fmt.Errorf("node %q: %w", v.Node, err)
		}
	}
	for _, v := range in.Front {
		if err := r.restoreFront(v); err != nil {
			return fmt.Errorf("node %q: %w", v.Node, err)
		}
	}
	for _, v := range in.Failures {
		if err := r.restoreFailure(v); err != nil {
			return fmt.Errorf("node %q: %w", v.Node, err)
		}
	}
	return r.restoreRest(in)
}

func (r *run[S]) restoreRest(in *stored) error {
	for _, id := range in.Joins {
		if !r.restoreJoin(id) {
			return fmt.Errorf("join %q: %w", id, errNoNode)
		}
	}
	for _, e := range in.Effects {
		if r.effects == nil {
			r.effects = map[string]*effect{}
		}
		kept := &effect{ok: true, retries: e.Retries}
		if err := r.decode(e.Result, func(data []byte) error { kept.data = data; return nil }); err != nil {
			return fmt.Errorf("effect %q: %w", e.Key, err)
		}
		r.effects[e.Key] = kept
	}
	return nil
}

var errNoNode = errors.New("the graph has no such node")

// decode undoes writer.value and hands the bytes to use.
func (r *run[S]) decode(raw json.RawMessage, use func([]byte) error) error {
	data := []byte(raw)
	if _, plain := r.cfg.codec.(jsonCodec); !plain {
		data = nil
		if err := json.Unmarshal(raw, &data); err != nil {
			return err
		}
	}
	return contain(func() error { return use(data) })
}

// number finds a node and notes that a visit of it has begun.
func (r *run[S]) number(id string, visit int32) (int32, error) {
	for i, m := range r.core.metas {
		if m.id == id && i > 0 {
			if r.visits != nil {
				r.visits[i] = max(r.visits[i], visit)
			}
			return int32(i), nil //nolint:gosec // a graph is small
		}
	}
	return 0, errNoNode
}

// output decodes what a node returned.
func (r *run[S]) output(node int32, raw json.RawMessage) (out any, data []byte, err error) {
	err = r.decode(raw, func(b []byte) error {
		data = b
		out, err = r.c.nodes[node].decode(r.cfg.codec, b)
		return err
	})
	return out, data, err
}

// restoreDone restores a visit whose output was applied, in a step of its own before
// the others: it is not told which it was, but they are in order.
func (r *run[S]) restoreDone(v storedVisit, step int) error {
	n, err := r.number(v.Node, v.Visit)
	if err != nil {
		return err
	}
	t := task{node: n, frame: r.enter(&r.base, n, v.Visit)}
	t.frame.close()
	if v.Out != nil {
		t.fresh, t.made, err = r.output(n, v.Out)
	}
	if err == nil {
		r.noteFinish(n, v.Visit, step, t.fresh)
	}
	r.complete(&t)
	return err
}

func (r *run[S]) restoreFront(v storedVisit) error {
	n, err := r.number(v.Node, v.Visit)
	if err != nil {
		return err
	}
	t := task{node: n, phase: v.Phase, tolerant: v.Tolerant, retries: v.Retries}
	switch {
	case v.Out != nil:
		if t.fresh, t.made, err = r.output(n, v.Out); err == nil && !r.merged {
			r.noteFinish(n, v.Visit, r.step, t.fresh)
		}
	case v.Phase == failed || v.Phase == cancelled:
		t.phase = ready
	case v.Phase == dropped:
		var f storedFailure
		if err = json.Unmarshal(v.Failure, &f); err == nil {
			t.err, t.made, t.tries = f.err(), v.Failure, int32(f.Attempt) //nolint:gosec // it was one
		}
	}
	for _, a := range v.Asks {
		t.asks = append(t.asks, a.interrupt())
	}
	r.front = append(r.front, t)
	return err
}

func (r *run[S]) restoreFailure(v storedVisit) error {
	n, err := r.number(v.Node, v.Visit)
	if err != nil {
		return err
	}
	var f storedFailure
	if err := json.Unmarshal(v.Failure, &f); err != nil {
		return err
	}
	e := r.nodeError(n, nil, f.err())
	e.Visit, e.Step, e.Attempt = int(v.Visit), f.Step, f.Attempt
	r.failures = append(r.failures, e)
	r.lost = append(r.lost, v.Failure)
	return nil
}

func (r *run[S]) restoreJoin(id string) bool {
	for j, n := range r.core.joins {
		if r.core.metas[n].id == id {
			r.waiting[j] = true
			return true
		}
	}
	return false
}
