// Command showcase serves an agent that shows every situation a client can
// meet. The text of the message chooses it: "ok", "stream 5", "error http-429",
// "ask" …; see the README beside this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/a2aexec/a2aexec/examples/internal/showcase"
	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
)

type flags struct {
	addr, grpcAddr, store string
	lease                 time.Duration
	pushPrivate           bool
}

func main() {
	var f flags
	flag.StringVar(&f.addr, "addr", "127.0.0.1:8080", "`host:port` for HTTP")
	flag.StringVar(&f.grpcAddr, "grpc-addr", "", "`host:port` for gRPC; none by default")
	flag.StringVar(&f.store, "store", "", "`file or postgres://…` that keeps tasks, flows and receivers of push notifications; in memory, and without such, by default")
	flag.DurationVar(&f.lease, "lease", 15*time.Second, "how long a process's tasks stay its own when it is not heard of, with -store")
	flag.BoolVar(&f.pushPrivate, "push-private", false, "push notifications go to loopback and private addresses too, with -store")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "showcase:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) (err error) {
	if f.store == "" {
		return serve(ctx, f, nil)
	}
	db, err := sqlstore.Open(ctx, f.store, sqlstore.Lease(f.lease))
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, f, db), db.Close()) //nolint:contextcheck // closing takes none
}

// serve keeps everything in memory when db is nil.
func serve(ctx context.Context, f flags, db *sqlstore.DB) error {
	var self showcase.Self
	kinds := []showcase.Option{showcase.Calls(&self)}
	opts := []executor.Option{
		executor.Version("0.1.0"),
		executor.OnListen(func(httpAddr, grpcAddr net.Addr) {
			if _, port, err := net.SplitHostPort(httpAddr.String()); err == nil {
				_ = self.At("http://127.0.0.1:" + port) // which is an address
			}
			fmt.Printf("showcase: ready on http://%v", httpAddr)
			if grpcAddr != nil {
				fmt.Printf(", gRPC on %v", grpcAddr)
			}
			fmt.Println()
		}),
	}
	if db != nil {
		opts = append(opts, executor.TaskStore(db.Tasks()),
			executor.PushNotifications(executor.Push{Store: db.PushConfigs(), AllowPrivateNetworks: f.pushPrivate}))
		kinds = append(kinds, showcase.Flows(db.Flows(), func(task, node string) {
			fmt.Fprintf(os.Stderr, "showcase: task %s runs node %s\n", task, node)
		}))
	}
	a, err := showcase.New(kinds...)
	if err != nil {
		return err
	}
	if f.grpcAddr != "" {
		opts = append(opts, executor.GRPCAddr(f.grpcAddr))
	}
	return executor.Serve(ctx, f.addr, a, opts...)
}
