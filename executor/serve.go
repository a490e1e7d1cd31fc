package executor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/a2aexec/a2aexec/agent"
)

// Serve serves an agent on addr until ctx is done, then shuts down: no new
// message is taken, what runs may finish within [ShutdownTimeout], what runs
// still then is ended as failed. It returns nil after a shutdown in which every
// run finished, an error that says how many did not, or why it could not serve.
//
// An addr with port 0 takes a free port, which [OnListen] tells. With
// [GRPCAddr] it serves gRPC too.
func Serve(ctx context.Context, addr string, a *agent.Agent, opts ...Option) error {
	c, err := newConfig(a, opts, scopeServe)
	if err != nil {
		return err
	}
	l, err := listen(ctx, addr, c.grpcAddr)
	if err != nil {
		return err
	}
	c.httpAddr = l.http.Addr()
	var grpcAddr net.Addr
	if l.grpc != nil {
		grpcAddr = l.grpc.Addr()
		c.grpcAddr = grpcAddr.String()
	}
	return l.serve(ctx, newServer(c), func() { //nolint:contextcheck // recovery goes on until the shutdown
		for _, f := range c.onListen {
			f(l.http.Addr(), grpcAddr)
		}
	})
}

// listeners are where Serve listens; grpc is nil without gRPC.
type listeners struct{ http, grpc net.Listener }

func listen(ctx context.Context, addr, grpcAddr string) (l listeners, err error) {
	var lc net.ListenConfig
	if l.http, err = lc.Listen(ctx, "tcp", addr); err != nil {
		return l, fmt.Errorf("listen: %w", err)
	}
	if grpcAddr == "" {
		return l, nil
	}
	if l.grpc, err = lc.Listen(ctx, "tcp", grpcAddr); err != nil {
		return l, errors.Join(fmt.Errorf("listen for gRPC: %w", err), l.http.Close())
	}
	return l, nil
}

// maxHeader bounds the header of an HTTP request, in bytes.
const maxHeader = 64 << 10

// serve calls ready once requests are answered.
func (l listeners) serve(ctx context.Context, s *Server, ready func()) error {
	hs := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: maxHeader}
	gs := grpc.NewServer(grpc.MaxRecvMsgSize(int(min(s.config.maxBody, math.MaxInt32))))
	s.RegisterGRPC(gs) //nolint:contextcheck // each stream brings its own
	g, failed := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := hs.Serve(l.http); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve HTTP: %w", err)
		}
		return nil
	})
	if l.grpc != nil {
		g.Go(func() error {
			if err := gs.Serve(l.grpc); err != nil {
				return fmt.Errorf("serve gRPC: %w", err)
			}
			return nil
		})
	}
	ready()
	g.Go(func() error {
		<-failed.Done()
		return s.stop(context.WithoutCancel(ctx), hs, gs)
	})
	return g.Wait()
}

// flushTime is how long clients may take to read the endings of their tasks
// once all runs are over.
const flushTime = 2 * time.Second

// stop lets runs finish, then closes the connections that are left.
func (s *Server) stop(ctx context.Context, hs *http.Server, gs *grpc.Server) error {
	s.exec.drain()
	limit, cancel := context.WithTimeout(ctx, s.config.shutdownTimeout)
	defer cancel()
	err := s.Shutdown(limit)

	flush, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	if hs.Shutdown(flush) != nil {
		_ = hs.Close() // a client that does not read
	}
	stopped := make(chan struct{})
	go func() {
		gs.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-flush.Done():
		gs.Stop()
		<-stopped
	}
	return err
}
