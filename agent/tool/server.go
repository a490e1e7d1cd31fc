package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/errcode"
)

// ErrClosed is the error of a [Server] that was closed.
var ErrClosed = errors.New("tool: the connection to the MCP server was closed by its user")

// ServerOption sets one thing about a [Server].
type ServerOption struct{ apply func(*Server) }

// ConnectTimeout is how long making a connection may take. Default 30 s; 0 and
// less are no limit.
func ConnectTimeout(d time.Duration) ServerOption {
	return ServerOption{func(s *Server) { s.connectTimeout = d }}
}

// KeepAlive is how often the connection is checked with a ping; one without an
// answer closes it, and the next call makes a new one. It helps against a server
// that hangs: nothing else tells that from one that is slow. Servers of
// protocol version 2026-07-28 and later know no ping. Default, and 0: never.
func KeepAlive(d time.Duration) ServerOption {
	return ServerOption{func(s *Server) { s.keepAlive = d }}
}

// MaxBytes is how large one message of a server over HTTP may be; a larger one
// is a failure of the call that it was for. Default 16 MiB; 0 and less are no limit.
// For other transports see [Stdio].
func MaxBytes(n int64) ServerOption {
	return ServerOption{func(s *Server) { s.maxBytes = n }}
}

// Server is a connection to an MCP server, made when it is first needed and
// again when it broke. Any number of requests may share one; it is safe for
// concurrent use. Close it when it is no longer needed.
//
// A question of the server to a call (elicitation) parks the task, as one with
// hitl.Ask does, and one by URL as a question for credentials. The next message
// answers with an object that fits the schema, or with the value of the only
// member that is asked for; {"action": "decline"} declines. What the server asks
// again in the same call is another question, up to ten in all.
type Server struct {
	name           string
	dial           Dial
	connectTimeout time.Duration
	keepAlive      time.Duration
	maxBytes       int64
	client         *mcp.Client

	life context.Context //nolint:containedctx // the life of the connections, not of a call
	end  context.CancelFunc
	work sync.WaitGroup // connecting and watching

	mu   sync.Mutex
	link *link // the newest, nil before the first
}

// link is one connection, or the attempt to make it.
type link struct {
	ready   chan struct{} // closed when session or err is set
	session *mcp.ClientSession
	conn    *holder // below the session
	err     error

	life     context.Context //nolint:containedctx // done when a new one is needed
	breakOff context.CancelFunc
	calls    context.Context //nolint:containedctx // done when its calls are given up
	giveUp   context.CancelFunc

	mu      sync.Mutex
	running int           // calls that may still end by themselves
	idle    chan struct{} // closed when it is retired and no such call is left
}

// errBroken is the error of a call whose connection was given up while it ran.
var errBroken = errors.New("the connection was closed while the call ran")

// errRetired is the error of a call that came too late for a connection.
var errRetired = errors.New("the connection is no longer used")

// enter counts a call in, unless the connection is retired.
func (l *link) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return false
	}
	l.running++
	return true
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && l.life.Err() != nil {
		close(l.idle)
	}
}

// retire has later calls make a new connection. The calls that run may end.
func (l *link) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() == nil && l.running == 0 {
		close(l.idle)
	}
	l.breakOff()
}

// use calls f with the session. When the connection is given up, the call is
// cancelled. A call that does not end with its context (a child process that reads
// nothing blocks the writer) shows that the connection is of no use for later ones.
func (l *link) use(ctx context.Context, f func(context.Context, *mcp.ClientSession) error) error {
	if !l.enter() {
		return errRetired
	}
	leave := sync.OnceFunc(l.leave)
	defer leave()
	call, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.calls, cancel)() //nolint:contextcheck // the connection's life, beside that of the call
	ended := make(chan struct{})
	defer close(ended)
	defer context.AfterFunc(call, func() {
		select {
		case <-ended:
		case <-time.After(grace / 2):
			l.retire()
			leave()
		}
	})()
	err := f(call, l.session)
	if errors.Is(err, context.Canceled) && l.calls.Err() != nil && ctx.Err() == nil {
		return errBroken
	}
	return err
}

// NewServer makes a Server. The name is for people and programs that look at
// failures, which come from mcp:NAME/TOOL. Nothing is connected yet, so a server that is
// down fails the first use, not this.
func NewServer(name string, dial Dial, opts ...ServerOption) *Server {
	s := &Server{name: name, dial: dial, connectTimeout: 30 * time.Second, maxBytes: 16 << 20}
	for _, o := range opts {
		if o.apply != nil {
			o.apply(s)
		}
	}
	s.client = mcp.NewClient(&mcp.Implementation{Name: "a2aexec", Version: "0.1.0"}, &mcp.ClientOptions{
		KeepAlive: s.keepAlive, ElicitationHandler: s.elicit, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
	})
	s.client.AddReceivingMiddleware(containClient)
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends the connection, a child process too, and waits until it is gone.
// Calls that run fail, and later ones with [ErrClosed].
func (s *Server) Close() error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.work.Wait()
	return nil
}

// Tools lists the server's tools, in the order in which it gives them. An error
// is an [*errcode.Error] with the source mcp:NAME, around an
// errcode.ComponentLoadError, unless ctx is done.
func (s *Server) Tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	err := s.with(ctx, func(ctx context.Context, session *mcp.ClientSession) error {
		listed, err := list(ctx, session)
		if err != nil {
			return err
		}
		for _, t := range listed {
			bound, err := newMCPTool(s, t)
			if err != nil {
				return err
			}
			tools = append(tools, bound)
		}
		return nil
	})
	switch {
	case err == nil:
		return tools, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("list tools of %s: %w", s.name, context.Cause(ctx))
	}
	failed := &errcode.ComponentLoadError{Component: "tools of " + s.name, Err: explain(s.name, err)}
	return nil, errcode.TableFrom(ctx).Convert(failed).With(errcode.Source(validSource("mcp:", s.name)))
}

// maxPages is how many pages a list of tools may have.
const maxPages = 1000

// list reads the pages of the list. One that a server begins again, or never
// ends, is refused.
func list(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	var tools []*mcp.Tool
	cursors := map[string]bool{"": true}
	for params := (&mcp.ListToolsParams{}); len(cursors) <= maxPages; {
		res, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range res.Tools {
			if t == nil {
				return nil, errors.New("list of tools: expected tools, got null")
			}
			tools = append(tools, t)
		}
		if params.Cursor = res.NextCursor; params.Cursor == "" {
			return tools, nil
		}
		if cursors[params.Cursor] {
			return nil, fmt.Errorf("list of tools: the cursor %.100q came twice", params.Cursor)
		}
		cursors[params.Cursor] = true
	}
	return nil, fmt.Errorf("list of tools: more than %d pages", maxPages)
}

// with calls use with a session. It is called again only when surely nothing was
// written the first time, for the connection had ended before. A server that
// has forgotten the session was asked all the same: that is a failure like any other,
// and later calls get a new session.
func (s *Server) with(ctx context.Context, use func(context.Context, *mcp.ClientSession) error) error {
	for again := true; ; again = false {
		l, err := s.connected(ctx)
		if err != nil {
			return err
		}
		var written atomic.Bool
		call := context.WithValue(context.WithValue(ctx, writtenKey{}, &written), journeyKey{}, &journey{})
		err = l.use(call, use)
		ended := errors.Is(err, mcp.ErrConnectionClosed)
		if ended || errors.Is(err, errForgotten) || errors.Is(err, mcp.ErrSessionMissing) {
			l.retire()
		}
		unsent := errors.Is(err, errRetired) || ended && l.conn.watched && !written.Load()
		if !again || !unsent {
			return err
		}
	}
}

// connected gives a connection that works as far as anybody knows. Callers that
// come while one is being made share it, and its failure.
func (s *Server) connected(ctx context.Context) (*link, error) {
	l, err := s.current() //nolint:contextcheck // a connection belongs to no request
	if err != nil {
		return nil, err
	}
	select {
	case <-l.ready:
		return l, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current gives the newest connection, and begins one where there is none that
// works.
func (s *Server) current() (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return nil, ErrClosed
	}
	if s.link != nil && s.link.life.Err() == nil {
		return s.link, nil
	}
	s.link = &link{ready: make(chan struct{}), idle: make(chan struct{})}
	s.link.life, s.link.breakOff = context.WithCancel(context.WithoutCancel(s.life))
	s.link.calls, s.link.giveUp = context.WithCancel(context.WithoutCancel(s.life))
	s.work.Add(1)
	go s.keep(s.link)
	return s.link, nil
}

// keep makes a connection and closes it when it broke or is no longer wanted.
func (s *Server) keep(l *link) {
	defer s.work.Done()
	defer l.retire()
	l.session, l.conn, l.err = s.open()
	close(l.ready)
	if l.err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = l.session.Wait()
	}()
	select {
	case <-ended: // and all calls with it, each with its own error
	case <-l.idle:
	case <-s.life.Done():
		l.giveUp()
	}
	l.retire()
	_ = l.conn.conn.Close() // first, for the session waits for calls that nobody answers
	_ = l.session.Close()
	<-ended
}

// open makes a connection; it belongs to no request.
func (s *Server) open() (session *mcp.ClientSession, conn *holder, err error) {
	defer func() {
		if v := recover(); v != nil { // dial and the transport are the user's
			session, conn, err = nil, nil, errcode.NewPanicError(v, debug.Stack())
		}
	}()
	ctx, cancel := s.life, context.CancelFunc(func() {})
	if s.connectTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.connectTimeout)
	}
	defer cancel()
	if s.dial == nil {
		return nil, nil, errors.New("no way to connect: dial is nil")
	}
	transport, err := s.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	if transport == nil {
		return nil, nil, errors.New("no way to connect: dial gave no transport")
	}
	held := &holder{Transport: telling(transport, s.maxBytes)}
	session, err = s.client.Connect(ctx, held, nil)
	switch {
	case err == nil:
		return session, held, nil
	case held.conn != nil:
		_ = held.conn.Close()
	}
	if s.life.Err() != nil {
		err = ErrClosed
	}
	return nil, nil, err
}

// holder keeps the connection that its transport makes.
type holder struct {
	mcp.Transport
	conn    mcp.Connection
	watched bool
}

// Connect implements mcp.Transport.
func (h *holder) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := h.Transport.Connect(ctx)
	wrap, known := watches(h.Transport)
	if wrap && err == nil {
		conn = watched{conn}
	}
	h.conn, h.watched = conn, known
	return conn, err
}
