package executor

import (
	"errors"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

// Push configures [PushNotifications]. The zero value of each field is its
// default.
type Push struct {
	// Store keeps the clients' configurations. Default: in memory; those of a
	// task that the default task store forgets are forgotten too. The tenant
	// "a2a:0.3" in one says that its client speaks A2A 0.3, and is to be kept.
	Store push.ConfigStore
	// Sender sends one event to one receiver; an error means that it did not
	// arrive. One of your own makes the request by [NewPushRequest]; to a
	// receiver of A2A 0.3 the event is always a task. Default: an HTTP client that
	// follows no redirects and refuses to connect to loopback, private, link-local
	// and reserved addresses, for the URLs are the clients'. Where an HTTP proxy
	// is set in the environment, the proxy must refuse them. The host's
	// push.HTTPPushSender is refused: it sends 1.0 to every receiver, under
	// another media type than 1.0 asks for, and no credentials but Bearer and Basic.
	Sender push.Sender
	// AllowPrivateNetworks lets the default sender connect to any address: to
	// receivers in a network of one's own. Default: false.
	AllowPrivateNetworks bool
	// Attempts is how often one event is sent to one receiver at most.
	// Default: 4. An error is taken to pass, unless it is an errcode.Error that
	// says otherwise.
	Attempts int
	// Timeout is how long one attempt may take. Default: 10 s. A sender that
	// does not heed its context is left behind then, and that event is not sent
	// again.
	Timeout time.Duration
	// Within is the time from the first attempt to the start of the last; the
	// delays between them double from 500 ms, or are those that the receiver
	// asked for. Default: 1 min.
	Within time.Duration
	// Queue is how many events wait at most, over all tasks. When it is full,
	// the oldest that waits for the same task is dropped, or the new one where
	// none does, and the log says so. Default: 1024.
	Queue int
}

// The defaults of [Push].
const (
	defaultPushAttempts = 4
	defaultPushTimeout  = 10 * time.Second
	defaultPushWithin   = time.Minute
	defaultPushQueue    = 1024
	pushDelay           = 500 * time.Millisecond
)

// PushNotifications lets clients register receivers for the events of their
// tasks (A2A v1.0 sections 3.5.3 and 4.3.3), and says so in the agent card. A
// receiver gets what the generation of A2A has by which it was registered: in
// 1.0 the events of a stream, in 0.3 the task at each change of its status
// (section 9.5 there). A config whose id no path of HTTP+JSON can name, or of
// which something fits no HTTP header, is refused with the field.
//
// Whatever Store and Sender do (fail, panic, hang), the task is untouched:
// events are sent from goroutines of their own, each task's in their order,
// again where that failed, and dropped with a line in the log where it goes on
// failing. A shutdown waits for what is still to be sent. Default: no push
// notifications.
func PushNotifications(p Push) Option {
	return Option{name: "PushNotifications", apply: func(c *config) error {
		if p.Attempts < 0 || p.Timeout < 0 || p.Within < 0 || p.Queue < 0 {
			return fmt.Errorf("%+v: expected 0 or more in each field", struct {
				Attempts        int
				Timeout, Within time.Duration
				Queue           int
			}{p.Attempts, p.Timeout, p.Within, p.Queue})
		}
		if _, ofHost := p.Sender.(*push.HTTPPushSender); ofHost {
			return errors.New("expected no push.HTTPPushSender, which does not send what A2A asks for; leave Sender out, and set AllowPrivateNetworks where needed")
		}
		if p.Sender != nil && p.AllowPrivateNetworks {
			return errors.New("AllowPrivateNetworks is for the default sender, and there is a Sender")
		}
		c.push = &p
		return nil
	}}
}

// withDefaults fills what was not given. It reports whether the store is the
// default one, and gives the sender if it is.
func (p Push) withDefaults() (full Push, ownStore bool, own *webhooks) {
	setDefault(&p.Attempts, defaultPushAttempts)
	setDefault(&p.Timeout, defaultPushTimeout)
	setDefault(&p.Within, defaultPushWithin)
	setDefault(&p.Queue, defaultPushQueue)
	if ownStore = p.Store == nil; ownStore {
		p.Store = push.NewInMemoryStore()
	}
	if p.Sender == nil {
		own = newWebhooks(p.AllowPrivateNetworks)
		p.Sender = own
	}
	return p, ownStore, own
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
