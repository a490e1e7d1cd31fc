package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/stream"
)

// Option configures [NewHandler], [NewServer] and [Serve]. A bad one is an
// error of theirs; all faults are reported at once. Options that say "server
// only" are refused by NewHandler, those that say "Serve only" by NewServer too.
type Option struct {
	name  string
	scope scope
	apply func(*config) error
}

type scope int

const (
	scopeHandler scope = iota
	scopeServer
	scopeServe
)

// RunFunc runs an agent's code for one request.
type RunFunc func(ctx context.Context, req *agent.Request) (*agent.Result, error)

type config struct {
	agent *agent.Agent

	// The run.
	table      *errcode.Table
	builder    errcode.Builder
	grace      time.Duration
	buffer     stream.Buffer
	backlog    backlog
	maxRuns    int
	maxParts   int
	maxInput   int64
	maxOutput  int64
	errOutput  *errcode.Error // a run exceeded maxOutput
	retryAfter time.Duration
	runTimeout time.Duration
	inactivity time.Duration

	parkTimeout time.Duration
	middleware  []func(RunFunc) RunFunc
	onOutcome   []func(context.Context, Outcome)
	logger      *slog.Logger
	tracers     trace.TracerProvider // nil for the program's
	abandoned   atomic.Int64         // runs whose code did not return in time

	// The host.
	store        taskstore.Store
	keepAge      time.Duration
	keepNumber   int
	keeps        bool           // KeepFinished was given
	leases       *leases        // nil unless the store has leases
	recoverEvery *time.Duration // nil by default
	interceptors []a2asrv.CallInterceptor
	push         *Push // nil without push notifications

	// The server.
	hasCard     bool // a server's, else the program has its own
	prefix      string
	baseURL     string
	grpcAddr    string
	httpAddr    net.Addr // where Serve listens; nil otherwise
	version     string
	skills      []a2a.AgentSkill
	inputModes  []string
	outputModes []string
	paths       Paths
	maxBody     int64
	keepAlive   time.Duration
	cardMaxAge  time.Duration
	origins     []string

	// Who may do what.
	schemes     []scheme
	scopes      []scopeRule
	authorizers []authorizer

	extensions   []a2a.AgentExtension
	extendedCard ExtendedCardFunc

	readTimeout  time.Duration
	writeTimeout time.Duration

	// Serve.
	shutdownTimeout time.Duration
	onListen        []func(httpAddr, grpcAddr net.Addr)
}

func newConfig(a *agent.Agent, opts []Option, limit scope) (*config, error) {
	if a == nil {
		return nil, a.Err()
	}
	c := &config{
		agent:           a,
		hasCard:         limit >= scopeServer,
		table:           errcode.Default(),
		grace:           time.Second,
		buffer:          stream.Buffer{Bytes: 16 << 10, First: 30 * time.Millisecond, Longest: 250 * time.Millisecond},
		backlog:         backlog{events: 256, bytes: 8 << 20},
		readTimeout:     30 * time.Second,
		writeTimeout:    30 * time.Second,
		logger:          slog.Default(),
		version:         "0.0.0",
		inputModes:      []string{"text/plain", "application/json"},
		outputModes:     []string{"text/plain", "application/json"},
		maxParts:        defaultMaxParts,
		maxInput:        defaultMaxInput,
		keepAge:         defaultKeepAge,
		keepNumber:      defaultKeepNumber,
		paths:           defaultPaths,
		maxBody:         10 << 20,
		keepAlive:       15 * time.Second,
		cardMaxAge:      5 * time.Minute,
		shutdownTimeout: 10 * time.Second,
	}
	faults := []error{a.Err()}
	for _, o := range opts {
		if o.apply == nil {
			continue
		}
		if o.scope > limit {
			faults = append(faults, fmt.Errorf("option %s: not for this constructor: it needs %s", o.name, o.scope))
			continue
		}
		if err := o.apply(c); err != nil {
			faults = append(faults, fmt.Errorf("option %s: %w", o.name, err))
		}
	}
	if c.keeps && c.store != nil {
		faults = append(faults, errKeepsElsewhere)
	}
	if c.builder.Domain == "" {
		c.builder.Domain = errcode.DomainFrom(a.Name())
	}
	if c.builder.Domain == "" && a.Name() != "" {
		faults = append(faults, fmt.Errorf("agent name %q: no domain can be made of it: give one with executor.Domain", a.Name()))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	c.logger = guardLogger(c.logger)
	return c, nil
}

func (s scope) String() string {
	if s == scopeServe {
		return "Serve"
	}
	return "NewServer or Serve"
}

// Table sets the table that classifies the agent's errors, for the ending of
// its tasks and, through the run's context, for everything that asks while it
// runs. Default: errcode.Default().
func Table(t *errcode.Table) Option {
	return Option{name: "Table", apply: func(c *config) error {
		if t == nil {
			return errors.New("expected a table, got nil")
		}
		c.table = t
		return nil
	}}
}

// Domain sets the domain of failures that have none of their own: kebab-case
// ASCII, "subject-management". Default: made from the agent's name.
func Domain(domain string) Option {
	return Option{name: "Domain", apply: func(c *config) error {
		if !errcode.ValidDomain(domain) {
			return fmt.Errorf("%q: expected kebab-case ASCII, such as %q", domain, "subject-management")
		}
		c.builder.Domain = domain
		return nil
	}}
}

// HideInternalText replaces the text of every unclassified error
// (INTERNAL_ERROR) by a general one; the log keeps it. A message the author
// made public with errcode.Message is still sent. Default: the redacted text
// is sent.
func HideInternalText() Option {
	return Option{name: "HideInternalText", apply: func(c *config) error {
		c.builder.HideInternal = true
		return nil
	}}
}

// Redactor replaces errcode.Redact, which masks credentials in every text of a
// failure and of a refusal that crosses the wire. It must be safe for concurrent use; where it panics, a
// general text is sent.
func Redactor(f func(string) string) Option {
	return Option{name: "Redactor", apply: func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.builder.Redact = f
		return nil
	}}
}

// Middleware wraps the agent's code: auditing, quotas, tracing. The first
// given is the outermost. It runs under the same protection as the code it
// wraps: its errors and panics end the task like the agent's own. With a
// streaming request it surrounds Stream and the fallback to Invoke.
//
// It may call next again, to retry: that closes the earlier call's writer, and
// fails with INTERNAL_ERROR, reason output_already_sent, once the earlier call
// has sent any output, for nothing is sent twice.
func Middleware(mw func(next RunFunc) RunFunc) Option {
	return Option{name: "Middleware", apply: func(c *config) error {
		if mw == nil {
			return errors.New("expected a function, got nil")
		}
		c.middleware = append(c.middleware, mw)
		return nil
	}}
}

// OnOutcome calls f after each run's ending has been stored, once per run, with
// the run's context values. Several are called in order, in a goroutine of
// their own: a slow f delays nothing but a shutdown. A panic in f is logged and
// changes nothing.
func OnOutcome(f func(context.Context, Outcome)) Option {
	return Option{name: "OnOutcome", apply: func(c *config) error {
		if f == nil {
			return errors.New("expected a function, got nil")
		}
		c.onOutcome = append(c.onOutcome, f)
		return nil
	}}
}

// RunTimeout bounds how long a run may take, whatever it does. One that takes
// longer ends as failed, UPSTREAM_TIMEOUT, reason run_timeout, with the elapsed
// time in details, even where its code ignores its cancelled context. Default:
// 0, no bound.
func RunTimeout(d time.Duration) Option {
	return Option{name: "RunTimeout", apply: func(c *config) error {
		c.runTimeout = d
		return notNegative(d)
	}}
}

// InactivityTimeout bounds how long a run may go without writing anything that
// reaches the client: a chunk, progress. A write counts when it is made, however
// long [StreamBuffer] holds it back. It ends like that of [RunTimeout], with
// the reason inactivity_timeout. Default: 0, no bound.
func InactivityTimeout(d time.Duration) Option {
	return Option{name: "InactivityTimeout", apply: func(c *config) error {
		c.inactivity = d
		return notNegative(d)
	}}
}

func notNegative(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%v: expected 0 or more", d)
	}
	return nil
}

// GracePeriod is how long a run whose task was cancelled, or that the server
// stops, may take to return before it is abandoned. Its task has ended by then
// and nothing it writes arrives. Default: 1 s; 0 waits not at all.
func GracePeriod(d time.Duration) Option {
	return Option{name: "GracePeriod", apply: func(c *config) error {
		c.grace = d
		return notNegative(d)
	}}
}

// StreamBuffer sets how the chunks of a stream are merged; see [stream.Buffer].
// The host copies the whole task for each event, so that many small chunks cost
// the square of their number. Default: 16 KiB at first, 30 ms at first, 250 ms at most;
// the zero Buffer sends each write as it is.
func StreamBuffer(b stream.Buffer) Option {
	return Option{name: "StreamBuffer", apply: func(c *config) error {
		if b.Bytes < 0 || b.First < 0 || b.Longest < 0 {
			return fmt.Errorf("%+v: expected 0 or more in each field", b)
		}
		c.buffer = b
		return nil
	}}
}

// ReaderBacklog bounds what is kept for a client that reads a stream more
// slowly than its task is told: a number of events, and about the bytes in
// them. A client further behind gets what was kept and then an error
// (-32000, gRPC RESOURCE_EXHAUSTED); the task goes on, and the client can
// subscribe to it. Default: 256 events and 8 MiB. One event is always kept.
func ReaderBacklog(events, bytes int) Option {
	return Option{name: "ReaderBacklog", apply: func(c *config) error {
		if events < 1 || bytes < 1 {
			return fmt.Errorf("%d events, %d bytes: expected 1 or more of each", events, bytes)
		}
		c.backlog = backlog{events, bytes}
		return nil
	}}
}

// Logger sets where failures are logged, with their private cause, under the
// correlation id that the client sees. It is the host's logger too. Default:
// slog.Default().
func Logger(l *slog.Logger) Option {
	return Option{name: "Logger", apply: func(c *config) error {
		if l == nil {
			return errors.New("expected a logger, got nil")
		}
		c.logger = l
		return nil
	}}
}

// TaskStore sets where tasks are kept. Default: in memory, each user seeing
// their own; see [KeepFinished], and [LeaseStore] for what outlives the process.
//
// A store of one's own keeps users apart too: List gives the caller's tasks, and
// Get either does not find those of others or says whose a task is
// (StoredTask.User), and then this package does not find it. The caller is in
// the context, by a2asrv.CallContextFrom.
func TaskStore(s taskstore.Store) Option {
	return Option{name: "TaskStore", apply: func(c *config) error {
		if s == nil {
			return errors.New("expected a store, got nil")
		}
		c.store = s
		return nil
	}}
}

// Interceptors adds the host's call interceptors (authentication, say). They
// run outside of the request validator; an error of theirs is cleaned like any
// other before it reaches the client, but an errcode.Error of the code
// RATE_LIMITED, UPSTREAM_UNAVAILABLE or UPSTREAM_TIMEOUT is told as 429 or 503.
func Interceptors(is ...a2asrv.CallInterceptor) Option {
	return Option{name: "Interceptors", apply: func(c *config) error {
		for _, i := range is {
			if i == nil {
				return errors.New("expected interceptors, got nil")
			}
		}
		c.interceptors = append(c.interceptors, is...)
		return nil
	}}
}
