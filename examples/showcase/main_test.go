package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// TestProgram starts the program as a user does, talks to it, and stops it.
func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("os.Interrupt cannot be sent on windows")
	}
	bin := filepath.Join(t.TempDir(), "showcase")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), bin, "-addr", "127.0.0.1:0", "-grpc-addr", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatal("the program says nothing")
	}
	base, grpcAddr, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "showcase: ready on "), ", gRPC on ")
	if !ok {
		t.Fatalf("the program says %q", lines.Text())
	}
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	if last := card.SupportedInterfaces[len(card.SupportedInterfaces)-1]; last.URL != grpcAddr {
		t.Errorf("the card gives %s for gRPC, the program says %s", last.URL, grpcAddr)
	}
	client, err := a2aclient.NewFromCard(t.Context(), card)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("ok"))})
	if err != nil {
		t.Fatal(err)
	}
	if task, isTask := res.(*a2a.Task); !isTask || task.Status.State != a2a.TaskStateCompleted {
		t.Errorf("got %+v", res)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program stops with %v", err)
	}
}
