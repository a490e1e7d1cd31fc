package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/stream"
)

// run is one run of a loop.
type run struct {
	*Loop
	answer *Answer
	writer *stream.Writer // nil where nobody reads along
	place  *place         // where the conversation is kept, nil for nowhere

	waiting  []Call             // of the round that a question has parked
	finished map[int]CallResult // of those, by their places

	mu    sync.Mutex
	wrote bool // a text was written in this run
}

func (r *run) say(m Message) { r.answer.Messages = append(r.answer.Messages, m) }

// ask has the model answer, and keeps what it said.
func (r *run) ask(ctx context.Context) (ModelResponse, error) {
	if ctx.Err() != nil {
		return ModelResponse{}, stopped(ctx)
	}
	r.answer.Iterations++
	said := voice{run: r}
	res, err := r.generate(ctx, &said)
	if err != nil {
		return ModelResponse{}, err
	}
	if r.writer != nil && !said.heard() {
		if err := said.write(res.Text); err != nil {
			return ModelResponse{}, err
		}
	}
	res.Calls = slices.Clone(res.Calls)
	for i := range res.Calls {
		if res.Calls[i].ID == "" {
			res.Calls[i].ID = fmt.Sprintf("call-%d-%d", r.answer.Iterations, i+1)
		}
	}
	r.answer.Usage.InputTokens += res.Usage.InputTokens
	r.answer.Usage.OutputTokens += res.Usage.OutputTokens
	r.say(Message{Role: Assistant, Text: res.Text, Calls: res.Calls, Raw: res.Raw})
	return res, nil
}

// longestWait is how long a model may have a run wait before it is asked again.
const longestWait = 30 * time.Second

// generate calls the model, and again while its failure may pass and nobody has
// read a part of the answer.
func (r *run) generate(ctx context.Context, said *voice) (ModelResponse, error) {
	var failed error
	res, err := retry.Do(ctx, func(ctx context.Context) (ModelResponse, error) {
		res, err := r.once(ctx, said)
		if err != nil && said.heard() {
			failed = err
			return ModelResponse{}, nil // not to be repeated
		}
		return res, err
	}, append([]retry.Option{retry.MaxWait(longestWait)}, r.retry...)...)
	if failed != nil {
		err = failed
		if hitl.Find(err) == nil {
			err = errcode.TableFrom(ctx).Convert(err)
		}
	}
	switch unread := said.failure(); {
	case err == nil && unread == nil:
		return res, nil
	case ctx.Err() != nil:
		return ModelResponse{}, stopped(ctx)
	case unread != nil: // nobody reads any more
		return ModelResponse{}, unread
	}
	return ModelResponse{}, err
}

func (r *run) once(ctx context.Context, said *voice) (ModelResponse, error) {
	call := ctx
	if r.timeout > 0 {
		var cancel context.CancelFunc
		call, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	req := ModelRequest{System: r.system, Messages: slices.Clip(r.answer.Messages), Tools: slices.Clip(r.specs)}
	one := attempt{voice: said}
	if r.writer != nil {
		req.Stream = one.write
	}
	o := apart(call, errModelExited, func() (ModelResponse, error) { return r.model.Generate(call, req) })
	one.end()
	late := o.err != nil && call.Err() != nil && ctx.Err() == nil
	if late && errcode.TableFrom(ctx).Classify(o.err).Code != errcode.UpstreamTimeout {
		o.err = fmt.Errorf("the model gave no answer within %v: %w", r.timeout, context.DeadlineExceeded)
	}
	return o.out, o.err
}

// errModelExited is the error of a model that ended its goroutine.
var errModelExited = errcode.New(errcode.Internal, "model_exited",
	errcode.Message("A model stopped without returning."))

// errLate is what a model is told that writes after its call has ended.
var errLate = errors.New("tool loop: the call of the model has ended")

// attempt is one call of the model for a voice. What is written after it is
// refused, for it would stand within a later text.
type attempt struct {
	*voice
	over bool // the run's lock guards it
}

func (a *attempt) write(text string) error {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	if a.over {
		return errLate
	}
	return a.writeLocked(text)
}

func (a *attempt) end() {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.over = true
}

// voice writes the text of one answer. Whatever goroutine a model calls it from,
// and whenever, it is safe; the run's lock guards it.
type voice struct {
	run *run
	any bool // something was written
	err error
}

func (v *voice) heard() bool {
	v.run.mu.Lock()
	defer v.run.mu.Unlock()
	return v.any
}

func (v *voice) failure() error {
	v.run.mu.Lock()
	defer v.run.mu.Unlock()
	return v.err
}

func (v *voice) write(text string) error {
	v.run.mu.Lock()
	defer v.run.mu.Unlock()
	return v.writeLocked(text)
}

func (v *voice) writeLocked(text string) error {
	if text == "" || v.err != nil {
		return v.err
	}
	if !v.any && v.run.wrote {
		text = "\n\n" + text
	}
	v.any, v.run.wrote = true, true
	v.err = v.run.writer.Text(text)
	return v.err
}

func stopped(ctx context.Context) error {
	return fmt.Errorf("tool loop: %w", context.Cause(ctx))
}
