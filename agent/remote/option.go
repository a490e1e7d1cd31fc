package remote

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/errcode/retry"
)

// Option configures an [Agent]. A bad one is an error of the constructor; all
// faults are reported at once. The zero Option does nothing.
type Option struct {
	name  string
	apply func(*config) error
}

type config struct {
	name     string
	base     *http.Client
	client   *http.Client // base, guarded
	grpc     []grpc.DialOption
	withGRPC bool
	factory  []a2aclient.FactoryOption
	retry    []retry.Option
	idle     time.Duration
	whole    time.Duration
	farewell time.Duration
	maxBytes int64
	failures uint32
	cooldown time.Duration
	tracers  trace.TracerProvider
}

func newConfig(opts []Option) (config, error) {
	c := config{
		base: http.DefaultClient, idle: 3 * time.Minute, farewell: 900 * time.Millisecond, maxBytes: 64 << 20,
	}
	var faults []error
	for _, o := range opts {
		if o.apply == nil {
			continue
		}
		if err := o.apply(&c); err != nil {
			faults = append(faults, fmt.Errorf("option %s: %w", o.name, err))
		}
	}
	c.client = guardClient(c.base, c.maxBytes)
	return c, errors.Join(faults...)
}

// Name is what the agent is called in the source of its failures. Default: the
// name in its card, which is not known while the agent cannot be reached.
func Name(name string) Option {
	return Option{"Name", func(c *config) error {
		if name == "" || tidyName(name) != name {
			return fmt.Errorf("%q: expected printable text of at most %d bytes", name, maxName)
		}
		c.name = name
		return nil
	}}
}

// HTTPClient is what the agent is called with: proxies, TLS, authentication.
// A request's context has the values of that of its call, so that a RoundTripper
// finds the run by agent.FromContext and can send its user's credentials; only
// the cancel of a task that was left parked belongs to no run. Its Timeout would end long streams too; [IdleTimeout] is better. A redirect
// is followed only if the client has a CheckRedirect. Default:
// http.DefaultClient.
func HTTPClient(hc *http.Client) Option {
	return Option{"HTTPClient", func(c *config) error {
		if hc == nil {
			return errors.New("expected a client, got nil")
		}
		c.base = hc
		return nil
	}}
}

// GRPC allows agents to be called over gRPC (1.0) where their card lists that,
// with these options; which way is taken is the card's order, or that of
// a2aclient.Config in [ClientOptions]. It takes less work than JSON where much
// is streamed. Default: JSON-RPC and HTTP+JSON only.
func GRPC(opts ...grpc.DialOption) Option {
	return Option{"GRPC", func(c *config) error {
		c.withGRPC, c.grpc = true, append(c.grpc, opts...)
		return nil
	}}
}

// ClientOptions adds to the options of the A2A client: interceptors, preferred
// transports.
func ClientOptions(opts ...a2aclient.FactoryOption) Option {
	return Option{"ClientOptions", func(c *config) error {
		c.factory = append(c.factory, opts...)
		return nil
	}}
}

// Retry sets how what failed is repeated, as far as that is safe: where no
// connection was had to send the message by, and where the remote refused it for
// now (HTTP 429 and 503, a protocol error that says RATE_LIMITED or
// UPSTREAM_UNAVAILABLE, such a status of gRPC with details). A message that was
// sent and not answered is not sent again. Of a client given to [FromClient] only
// HTTP can be watched: what fails in another transport counts as sent.
//
// What only reads the remote's task, or cancels it, is repeated whenever its
// failure is retriable, each such request as often as a message: a stream that
// breaks while the task is at work is opened again, or the task is asked how far
// it is, and only where that fails for good does the call.
//
// See [retry.Do]. Default: three attempts, no more than 30 s apart, so that a remote that
// asks for an hour fails the call with that delay (retry.MaxWait);
// Retry(retry.MaxAttempts(1)) makes one.
func Retry(opts ...retry.Option) Option {
	return Option{"Retry", func(c *config) error {
		c.retry = opts
		return nil
	}}
}

// IdleTimeout is how long the remote may say nothing: each event of a stream is
// something, and of a task that is asked how far it is, each change. Then the
// call fails with UPSTREAM_TIMEOUT, reason remote_idle, and the remote task is
// cancelled.
// Default: 3 minutes; 0 is no limit.
func IdleTimeout(d time.Duration) Option {
	return Option{"IdleTimeout", func(c *config) error {
		c.idle = d
		return notNegative(d)
	}}
}

// Timeout is how long a call may take as a whole, retries included. Then it
// fails with UPSTREAM_TIMEOUT, reason remote_timeout. Default: 0, no limit but
// that of ctx.
func Timeout(d time.Duration) Option {
	return Option{"Timeout", func(c *config) error {
		c.whole = d
		return notNegative(d)
	}}
}

// CancelTimeout is how long a call that is over waits for the remote task to be
// cancelled, and one that is cancelled before the remote has answered, to learn
// which task that would be. Default: 900 ms, so that both a run and its call fit
// into the executor's grace period; 0 cancels nothing, parked tasks neither.
func CancelTimeout(d time.Duration) Option {
	return Option{"CancelTimeout", func(c *config) error {
		c.farewell = d
		return notNegative(d)
	}}
}

// MaxBytes is how much the remote may answer to one call: bytes of a response
// and, of all of them together, of artifacts and status messages, as far as they
// are new, and 64 for each event and artifact. More fails with
// UPSTREAM_UNAVAILABLE, reason remote_answer_too_large. Default: 64 MiB. One
// event of a stream is at most 10 MiB.
func MaxBytes(n int64) Option {
	return Option{"MaxBytes", func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("%d: expected more than 0", n)
		}
		c.maxBytes = n
		return nil
	}}
}

// CircuitBreaker stops calling an agent that failed so many times in a row to
// answer (not one that answered with a failure of its own), for the cooldown;
// then one call tries again. Meanwhile calls fail at once with
// UPSTREAM_UNAVAILABLE, reason circuit_open, and the time left as the delay.
// Default: none.
func CircuitBreaker(failures int, cooldown time.Duration) Option {
	return Option{"CircuitBreaker", func(c *config) error {
		if failures <= 0 || failures > 1<<20 || cooldown <= 0 {
			return fmt.Errorf("%d failures, %v: expected more than 0 of both", failures, cooldown)
		}
		c.failures, c.cooldown = uint32(failures), cooldown
		return nil
	}}
}

// TracerProvider sets who makes the spans of the calls. Default:
// otel.GetTracerProvider() at the time of the call.
func TracerProvider(p trace.TracerProvider) Option {
	return Option{"TracerProvider", func(c *config) error {
		if p == nil {
			return errors.New("expected a tracer provider, got nil")
		}
		c.tracers = p
		return nil
	}}
}

func notNegative(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%v: expected 0 or more", d)
	}
	return nil
}

// CallOption configures one call. The zero CallOption does nothing.
type CallOption struct{ apply func(*call) }

// Key tells apart the calls of one run, or of one visit of a flow's node: a
// call whose remote task asked is found again by it when the code runs again.
// Of calls with the same key the first to be made is the first one then, too.
// Default: one made of the agent's address and name and of the message's parts,
// so that these must be the same when the code runs again. The request's own
// text, or all of it, may be the message: that is then the answer, but the call
// is recognised. A message made of anything else that changes, as of a time, or
// of the request's text and more, needs a key, or is made of
// agent.Request.Original.
func Key(key string) CallOption {
	return CallOption{func(c *call) {
		if key != "" {
			c.key = key
		}
	}}
}

// ContextID is the conversation that the call belongs to, "" for a new one.
// Default: that of the run that makes the call.
func ContextID(id string) CallOption {
	return CallOption{func(c *call) { c.contextID = id }}
}
