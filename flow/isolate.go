package flow

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
			if v := recover(); v != nil {
				err = r.torn(recovered(v))
			} else if !returned {
				err = r.torn(errExited)
			}
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
	if len(r.front) == 0 { // on the plain path
		r.stumble(attempted{err: cause})
	}
	r.merged = true // what was not applied is not applied now
	r.mu.Lock()
	for i := range r.front {
		t := &r.front[i]
		if t.frame != nil && !t.frame.closed() {
			t.frame.close()
		}
		if t.node == r.busy && t.phase == ready {
			t.phase, t.err, t.tries = failed, cause, max(t.tries, 1)
		}
	}
	r.mu.Unlock()
	return r.fail(r.busy, cause)
}
