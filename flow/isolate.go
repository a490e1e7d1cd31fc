package flow

import "errors"

// Isolated runs the flow in a goroutine of its own, for which the caller waits.
// A node that runs alone runs in the scheduler's goroutine, and if it ends that
// (runtime.Goexit) it ends the caller's, as any function does; isolated, the run
// fails in that node instead. agent.Flow does so always. Default: the caller's
// goroutine, which takes about a microsecond less.
func Isolated() RunOption {
	return RunOption{func(c *config) string { c.isolated = true; return "" }}
}

// apart does the work of a run in a goroutine.
func (r *run[S]) apart(work func() (Result[S], error)) (res Result[S], err error) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		returned := false
		defer func() {
			v := recover()
			if v == nil && returned {
				return
			}
			cause := errExited
			if v != nil {
				cause = recovered(v)
			}
			err = r.torn(cause)
			err = r.keepTorn(err) // on its own: should it be ended, too, there is an error
		}()
		res, err = work()
		returned = true
	}()
	<-over
	if err != nil {
		res = r.result()
	}
	return res, err
}

// torn makes the error of a run whose goroutine was ended. It calls nothing of
// the user's, who might end it again.
func (r *run[S]) torn(cause error) error {
	if len(r.front) == 0 && r.isPlain() { // else the run has come to its end
		r.stumble(attempted{err: cause})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.front {
		t := &r.front[i]
		if t.frame != nil {
			t.frame.close()
		}
		if t.node == r.busy && (t.phase == ready || r.at == applying) {
			t.phase, t.err, t.tries = failed, cause, max(t.tries, 1)
		}
	}
	r.hush()
	if r.at == applying {
		r.state = r.scratch
	}
	merged := r.merged
	r.merged = true // what was not applied is not applied now
	err := r.fail(r.busy, cause)
	r.merged = merged
	return err
}

// keepTorn saves the run of a torn goroutine, as after a panic. One that has come
// to its end is saved already.
func (r *run[S]) keepTorn(err error) error {
	var e *NodeError
	if r.store == nil || r.store.text == nil || len(r.front) == 0 || !errors.As(err, &e) {
		return err
	}
	e.Err = join(e.Err, r.save(statusFailed))
	return err
}
