package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = ".."

// showcase builds the program, starts it on free ports of loopback, and gives
// its address.
func showcase(t *testing.T) string {
	t.Helper()
	bin := build(t, root, "./examples/showcase")
	cmd := exec.CommandContext(t.Context(), bin, "-addr", "127.0.0.1:0", "-grpc-addr", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	base, _, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "showcase: ready on "), ", gRPC on ")
	if !ok {
		t.Fatalf("the showcase says %q", lines.Text())
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // after t's context was cancelled
	return base
}

// build builds a Go program of the module in dir.
func build(t *testing.T, dir, pkg string, env ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		unavailable(t, fmt.Sprintf("go build %s: %v: %s", pkg, err, out))
	}
	return bin
}

// unavailable skips a test for lack of something, or fails it where all is
// required.
func unavailable(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("A2AEXEC_INTEROP") == "required" {
		t.Fatal(why)
	}
	t.Skip(why + "; interop/install.sh installs the clients")
}

// listed are the bindings that the card lists, as the table names them.
func listed(t *testing.T, base string) map[string]bool {
	t.Helper()
	var card struct {
		SupportedInterfaces []struct{ ProtocolBinding, ProtocolVersion string }
	}
	fetch(t, base+"/.well-known/agent-card.json", &card)
	names := map[string]string{"JSONRPC": "JSON-RPC", "HTTP+JSON": "HTTP+JSON", "GRPC": "gRPC"}
	out := map[string]bool{}
	for _, i := range card.SupportedInterfaces {
		out[i.ProtocolVersion+" "+names[i.ProtocolBinding]] = true
	}
	return out
}

// stored asks the server itself for a task's state: for a client that cannot.
func stored(t *testing.T, base, id string) string {
	t.Helper()
	var task struct{ Status struct{ State string } }
	fetch(t, base+"/v1/tasks/"+id, &task)
	return state(task.Status.State)
}

func fetch(t *testing.T, url string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("A2A-Version", "1.0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatalf("decode the answer of %s: %v", url, err)
	}
}
