package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"golang.org/x/sync/errgroup"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// pusher sends push notifications. The host asks the configuration store and
// calls the sender between a task's events, and fails the task when either
// fails, or waits for them; so it is given this in the place of both, which
// only puts the event into a line (pushline.go). Both of the user's are called
// from there.
type pusher struct {
	Push
	config   *config
	ownStore bool
	webhooks *webhooks // the sender, where it is the default one
	logger   *slog.Logger
	lines    *lines
}

func newPusher(c *config) *pusher {
	p := &pusher{config: c, logger: c.logger}
	p.Push, p.ownStore, p.webhooks = c.push.withDefaults()
	p.lines = newLines(p.Queue)
	return p
}

// pushNotifications has the host use x.push.
func (x *agentExecutor) pushNotifications() a2asrv.RequestHandlerOption {
	x.push = newPusher(x.config)
	if x.memory != nil {
		x.memory.forgotten = x.push.forget
	}
	return a2asrv.WithPushNotifications(pushStore{x.push.Store, x.push}, pushSender{x.push})
}

// notify puts an event into its task's line. Nil does nothing.
func (p *pusher) notify(ctx context.Context, event a2a.Event) {
	if p == nil {
		return
	}
	id := event.TaskInfo().TaskID
	event = withoutKept(toldEvent(event))
	ctx = context.WithoutCancel(ctx)
	dropped := p.lines.add(id, func(stop <-chan struct{}) {
		ctx, cancel := stoppedWith(ctx, stop)
		defer cancel()
		p.deliver(ctx, id, event)
	})
	if dropped > 0 {
		emit(ctx, p.logger, slog.LevelWarn, "push notifications were dropped: too many wait",
			slog.String("task_id", string(id)), slog.Int("dropped", dropped))
	}
}

// forget deletes the receivers of a task that is no more, once its last events
// are sent.
func (p *pusher) forget(id a2a.TaskID) {
	if p.ownStore && !p.hasReceivers(context.Background(), id) {
		return
	}
	p.lines.addLast(id, func(stop <-chan struct{}) {
		ctx, cancel := stoppedWith(context.Background(), stop)
		defer cancel()
		_, err := bounded(ctx, p.Timeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.Store.DeleteAll(ctx, id)
		})
		p.logFailed(ctx, "delete the receivers of a forgotten task", id, nil, err)
	})
}

// stoppedWith gives a context that ends when stop is closed.
func stoppedWith(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-stop:
			cancel(errShutdown)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// drain waits until everything is sent, or ctx is done. Nil has nothing to send.
func (p *pusher) drain(ctx context.Context) error {
	if p == nil {
		return nil
	}
	lost := p.lines.drain(ctx)
	if p.webhooks != nil {
		p.webhooks.close()
	}
	if lost > 0 {
		return fmt.Errorf("shut down: %d push notifications were not delivered: %w", lost, context.Cause(ctx))
	}
	return nil
}

// hasReceivers asks the default store, which takes no time.
func (p *pusher) hasReceivers(ctx context.Context, id a2a.TaskID) bool {
	configs, err := p.Store.List(ctx, id)
	return err != nil || len(configs) > 0
}

// sendAtOnce is to how many receivers of a task an event is sent at the same
// time.
const sendAtOnce = 8

// deliver sends an event to all receivers of its task, and returns when each
// has it or has been given up, so that the next comes after it.
func (p *pusher) deliver(ctx context.Context, id a2a.TaskID, event a2a.Event) {
	receivers, err := again(ctx, p, func(ctx context.Context) ([]*a2a.PushConfig, error) {
		return p.Store.List(ctx, id)
	})
	if err != nil {
		p.logFailed(ctx, "list the receivers of push notifications", id, nil, err)
		return
	}
	var old a2a.Event
	if slices.ContainsFunc(receivers, of03) {
		old = p.event03(ctx, event)
	}
	var g errgroup.Group
	g.SetLimit(sendAtOnce)
	for i, receiver := range receivers {
		told := event
		if of03(receiver) {
			told = old
		}
		if told != nil {
			g.Go(func() error {
				p.send(ctx, id, receiver, told, i < sendAtOnce)
				return nil
			})
		}
	}
	_ = g.Wait() // none gives an error
}

// send sends an event to one receiver. What the client changes of the config
// while it takes several attempts is heeded: nothing is sent any more to a
// receiver that was deleted (A2A v1.0 section 3.1.10). current says that the
// config has just been read.
func (p *pusher) send(ctx context.Context, id a2a.TaskID, receiver *a2a.PushConfig, event a2a.Event, current bool) {
	_, err := again(ctx, p, func(ctx context.Context) (struct{}, error) {
		to := receiver
		if !current {
			var err error
			if to, err = p.reread(ctx, id, receiver); err != nil || to == nil {
				return struct{}{}, err
			}
		}
		current = false
		return struct{}{}, p.Sender.SendPush(ctx, to, event)
	})
	p.logFailed(ctx, "send a push notification", id, receiver, err)
}

// reread gives a config as it is now; nil where it is no more, or is one of
// another generation of A2A, which has its events from the next on.
func (p *pusher) reread(ctx context.Context, id a2a.TaskID, before *a2a.PushConfig) (*a2a.PushConfig, error) {
	now, err := p.Store.Get(ctx, id, before.ID)
	switch {
	case errors.Is(err, push.ErrPushConfigNotFound), err == nil && of03(now) != of03(before):
		return nil, nil //nolint:nilnil // as it says
	default:
		return now, err
	}
}

func (p *pusher) logFailed(ctx context.Context, what string, id a2a.TaskID, receiver *a2a.PushConfig, err error) {
	if err == nil {
		return
	}
	attrs := append([]slog.Attr{slog.String("what", what), slog.String("task_id", string(id))}, causeAttrs(err)...)
	if receiver != nil {
		attrs = append(attrs, slog.String("config_id", receiver.ID))
	}
	emit(ctx, p.logger, slog.LevelWarn, "push notification failed", attrs...)
}

// again calls f until it does not fail, as often and as long as the options
// have it. Errors that do not say whether to try again are taken to pass.
func again[T any](ctx context.Context, p *pusher, f func(context.Context) (T, error)) (T, error) {
	return retry.Do(ctx, func(ctx context.Context) (T, error) {
		v, err := bounded(ctx, p.Timeout, f)
		if _, says := errtree.As[*errcode.Error](err); err == nil || says {
			return v, err
		}
		if _, panicked := errtree.As[*errcode.PanicError](err); panicked {
			return v, err
		}
		return v, errcode.New(errcode.UpstreamUnavailable, "push_failed", errcode.Cause(err))
	}, retry.MaxAttempts(p.Attempts), retry.Budget(p.Within), retry.InitialDelay(pushDelay))
}

// errLeftBehind is why an attempt that does not end is not made again: it may
// still arrive.
var errLeftBehind = errcode.New(errcode.UpstreamTimeout, "push_left_behind", errcode.Retriable(false),
	errcode.Message("The sender does not heed its context and was left behind."))

// heedTime is how long code whose context is done may take to return.
const heedTime = time.Second

// bounded calls f, whatever it does: a panic is an error, and when f does not
// return in time it is left behind.
func bounded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errHandlerExited} // should it exit the goroutine
		defer func() {
			if v := recover(); v != nil {
				a.err = errcode.NewPanicError(v, debug.Stack())
			}
			done <- a
		}()
		a.value, a.err = f(ctx)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	t := time.NewTimer(heedTime)
	defer t.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-t.C:
		var none T
		return none, errLeftBehind
	}
}
