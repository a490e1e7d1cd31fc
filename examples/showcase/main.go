// Command showcase serves an agent that shows every situation a client can
// meet. The text of the message chooses it: "ok", "stream 5", "error http-429",
// "ask" …; see the README beside this file.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/a2aexec/a2aexec/examples/internal/showcase"
	"github.com/a2aexec/a2aexec/executor"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`host:port` for HTTP")
	grpcAddr := flag.String("grpc-addr", "", "`host:port` for gRPC; none by default")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *addr, *grpcAddr); err != nil {
		fmt.Fprintln(os.Stderr, "showcase:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, addr, grpcAddr string) error {
	var self atomic.Value // where the rows "remote …" find this agent
	a, err := showcase.New(showcase.Self(func() string {
		address, _ := self.Load().(string)
		return address
	}))
	if err != nil {
		return err
	}
	opts := []executor.Option{
		executor.Version("0.1.0"),
		executor.OnListen(func(httpAddr, grpcAddr net.Addr) {
			if _, port, err := net.SplitHostPort(httpAddr.String()); err == nil {
				self.Store("http://127.0.0.1:" + port)
			}
			fmt.Printf("showcase: ready on http://%v", httpAddr)
			if grpcAddr != nil {
				fmt.Printf(", gRPC on %v", grpcAddr)
			}
			fmt.Println()
		}),
	}
	if grpcAddr != "" {
		opts = append(opts, executor.GRPCAddr(grpcAddr))
	}
	return executor.Serve(ctx, addr, a, opts...)
}
