package executor

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/agent"
)

// Handler answers A2A requests for one agent, whatever binding they come by.
// It is an a2asrv.RequestHandler, for programs that mount the host's bindings
// themselves; most use [NewServer] or [Serve], which also correct what the
// host's bindings answer on their own, to requests that they cannot decode. It
// is safe for concurrent use.
type Handler struct {
	a2asrv.RequestHandler
	exec  *agentExecutor
	inner a2asrv.RequestHandler // without interceptors, for the server's own messages
}

// NewHandler makes the handler of an agent. The error names every fault of the
// agent and the options.
func NewHandler(a *agent.Agent, opts ...Option) (*Handler, error) {
	c, err := newConfig(a, opts, scopeHandler)
	if err != nil {
		return nil, err
	}
	return newHandler(c), nil
}

// Abandoned tells how many runs, and calls of agent.OnRelease, were given up so
// far because their code did not return within the grace period after their task
// had ended. That code may still be running; nothing it writes arrives. Of a run
// the log tells, too, and its span has the attribute "abandoned".
func (h *Handler) Abandoned() int64 { return h.exec.abandoned.Load() }

// newHandler builds the stack, from the outside in:
//
//	clean         every error gets one sentinel and a public text; it is
//	              outermost so that an interceptor's error passes it too. It
//	              authenticates and activates extensions, where no edge (see
//	              edge.go) has done so yet
//	interceptors  the user's, who may know the caller better
//	authorizing   needs the caller, and comes before anything is looked up
//	inputs        messages made of plain values, and not too large
//	protocol      the host's answers corrected to the specification; it needs
//	              the caller, and must see a request before the host makes a task
//	host          transports' view of tasks, subscriptions, the task store
//	executor      runs the agent
func newHandler(c *config) *Handler {
	if s, ok := c.store.(LeaseStore); ok {
		c.leases = &leases{s, c}
	}
	exec := newAgentExecutor(c)
	if c.store == nil {
		exec.memory = newMemoryStore(ownerOf, c.keepAge, c.keepNumber)
		c.store = exec.memory
	}
	c.store = watchedStore{c.store, exec}
	able := c.capabilities()
	able.Extensions = nil // required ones are checked before, see activate
	opts := []a2asrv.RequestHandlerOption{
		a2asrv.WithTaskStore(c.store),
		a2asrv.WithLogger(c.logger),
		a2asrv.WithCapabilityChecks(able),
		a2asrv.WithExecutionPanicHandler(c.hostPanic),
	}
	if c.push != nil {
		c.push = c.push.watched()
		opts = append(opts, exec.pushNotifications())
	}
	host := a2asrv.NewHandler(exec, opts...)
	exec.startRecovery(host)
	inner := inputs{&protocol{RequestHandler: host, config: c, exec: exec}, c}
	interceptors := slices.Clone(c.interceptors)
	if len(c.scopes)+len(c.authorizers) > 0 {
		interceptors = append(interceptors, authorizing{config: c})
	}
	intercepted := &a2asrv.InterceptedHandler{Handler: inner, Interceptors: interceptors, Logger: c.logger}
	return &Handler{RequestHandler: &clean{next: intercepted, config: c}, exec: exec, inner: inner}
}

// Shutdown refuses new messages and waits until nothing runs. When ctx is done
// before, what still runs ends as failed with UPSTREAM_UNAVAILABLE, reason
// server_shutdown, and the error says how many runs that were. Code that does
// not return even then is left behind after the grace period. Parked tasks are
// not touched. Push notifications that wait are sent before; those that are
// not sent by then are dropped, and the error says how many.
func (h *Handler) Shutdown(ctx context.Context) error { return h.exec.shutdown(ctx) }
