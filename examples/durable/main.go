// Command durable runs a flow in a process of its own, kills that process
// half-way, starts it again, and tells that every node has run once.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/flow"
)

// steps are the flow's nodes, one after the other.
var steps = []string{"check_order", "reserve_stock", "charge_card", "print_label", "send_mail"}

func main() {
	ctx, err := context.Background(), error(nil)
	if len(os.Args) == 3 { // the process that is killed, and the one after it
		err = work(ctx, os.Args[1], os.Args[2])
	} else {
		err = tell(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

// work runs the flow or goes on with it, and kills its process when that node has completed.
func work(ctx context.Context, file, lastNode string) error {
	db, err := sqlstore.Open(ctx, file)
	if err != nil {
		return err
	}
	g, last, ended := flow.New[[]string]("order"), flow.START, ""
	for _, name := range steps {
		node := flow.Node(g, name, "business", func(context.Context, []string) (string, error) {
			fmt.Println("  runs", name)
			return name, nil
		}, func(s *[]string, v string) { *s = append(*s, v) })
		g.Edge(last, node)
		last = node
	}
	g.Edge(last, flow.END)
	c, err := g.Compile(flow.WithStore(db.Flows()), flow.OnEvent(func(_ context.Context, e flow.Event) {
		if e.Kind == flow.RunSaved && ended == lastNode { // its output is on the disk
			kill()
		}
		ended = e.Node
	}))
	if err != nil {
		return err
	}
	res, err := c.Resume(ctx, "order-4711")
	if errors.Is(err, flow.ErrUnknownRun) {
		res, err = c.Run(ctx, "order-4711", nil)
	}
	fmt.Println("  completed:", strings.Join(res.Completed(), ", "))
	return errors.Join(err, db.Close()) //nolint:contextcheck // closing takes none
}

// kill ends this process at once: nothing is cleaned up.
func kill() {
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	select {}
}

// tell starts the process twice and counts what ran.
func tell(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	say := func(a ...any) { _, _ = fmt.Fprintln(out, a...) }
	var said bytes.Buffer
	for _, try := range [][2]string{{"A process begins the flow:", "reserve_stock"}, {"Another goes on with it:", "none"}} {
		say(try[0])
		cmd := exec.CommandContext(ctx, os.Args[0], filepath.Join(dir, "flows.db"), try[1])
		cmd.Stdout, cmd.Stderr = io.MultiWriter(out, &said), os.Stderr
		if err := cmd.Run(); err != nil {
			say("  the process is dead:", err)
		}
	}
	for _, name := range steps {
		if n := strings.Count(said.String(), "runs "+name+"\n"); n != 1 {
			return fmt.Errorf("node %s ran %d times", name, n)
		}
	}
	say("Every node ran once.")
	return nil
}
