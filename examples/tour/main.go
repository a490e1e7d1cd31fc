// Command tour starts the showcase agent on a free loopback port, talks to it
// with the A2A client as any program would, and prints for each story what was
// sent and what came back. It exits non-zero if anything is not as told.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"github.com/a2aexec/a2aexec/examples/internal/showcase"
	"github.com/a2aexec/a2aexec/executor"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tour(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

// tour runs every story against a server of its own.
func tour(ctx context.Context, out io.Writer) error {
	a, err := showcase.New()
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	addr := make(chan string, 1)
	served := make(chan error, 1)
	go func() {
		served <- executor.Serve(serving, "127.0.0.1:0", a,
			executor.Version("0.1.0"),
			executor.Logger(slog.New(slog.DiscardHandler)),
			executor.OnListen(func(httpAddr, _ net.Addr) { addr <- "http://" + httpAddr.String() }))
	}()
	select {
	case err := <-served:
		return err
	case base := <-addr:
		err := tell(ctx, out, base)
		stop()
		return errors.Join(err, <-served)
	}
}

func tell(ctx context.Context, out io.Writer, base string) error {
	card, err := agentcard.DefaultResolver.Resolve(ctx, base)
	if err != nil {
		return fmt.Errorf("resolve the agent card: %w", err)
	}
	client, err := a2aclient.NewFromCard(ctx, card)
	if err != nil {
		return fmt.Errorf("make the client: %w", err)
	}
	defer func() { _ = client.Destroy() }()
	printf(out, "The agent %q answers at %s.\n", card.Name, base)

	wrong := 0
	for i, s := range stories {
		printf(out, "\n%d. %s\n", i+1, s.title)
		if err := s.play(ctx, out, client); err != nil {
			wrong++
			printf(out, "   NOT AS TOLD: %v\n", err)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d stories were not as told", wrong, len(stories))
	}
	printf(out, "\nAll %d stories were as told.\n", len(stories))
	return nil
}

// play sends the story's messages and compares the end with what is wanted.
func (s story) play(ctx context.Context, out io.Writer, client *a2aclient.Client) error {
	var task *a2a.Task
	for _, text := range s.say {
		msg := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
		if task != nil {
			msg = a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(text))
		}
		var err error
		if task, err = s.send(ctx, out, client, msg, task); err != nil {
			printf(out, "   <- refused: %v\n", err)
			return s.want.checkRefused(err)
		}
		show(out, task)
	}
	return s.want.check(task)
}

// send gives the task as it stands once the agent has answered.
func (s story) send(ctx context.Context, out io.Writer, client *a2aclient.Client, msg *a2a.Message, task *a2a.Task) (*a2a.Task, error) {
	req := &a2a.SendMessageRequest{Message: msg}
	how := "blocking"
	if s.stream {
		how = "streaming"
	}
	printf(out, "   -> %q (%s)\n", msg.Parts[0].Text(), how)
	if !s.stream {
		res, err := client.SendMessage(ctx, req)
		if err != nil {
			return nil, err
		}
		answered, ok := res.(*a2a.Task)
		if !ok {
			return nil, fmt.Errorf("answered with a %T, expected a task", res)
		}
		return answered, same(ctx, client, answered)
	}
	for ev, err := range client.SendStreamingMessage(ctx, req) {
		if err != nil {
			return nil, err
		}
		showEvent(out, ev)
		if t, ok := ev.(*a2a.Task); ok {
			task = t
		}
	}
	if task == nil {
		return nil, errors.New("a stream without a task")
	}
	return client.GetTask(ctx, &a2a.GetTaskRequest{ID: task.ID})
}

// same reports whether a later GetTask tells what the answer told.
func same(ctx context.Context, client *a2aclient.Client, answered *a2a.Task) error {
	later, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: answered.ID})
	if err != nil {
		return err
	}
	a, errA := json.Marshal(answered)
	b, errB := json.Marshal(later)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if string(a) != string(b) {
		return fmt.Errorf("answered with %s, and later with %s", a, b)
	}
	return nil
}

// printf writes to the terminal; there is nobody to tell that it is gone.
func printf(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
