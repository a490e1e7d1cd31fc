package interop

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2aexec/a2aexec/interop/internal/wire"
)

// client is one that somebody else wrote.
type client struct {
	id       string
	name     string // as its registry names it, and its version
	bindings []string
	command  func(t *testing.T) []string
	// tellsFinal: the client's own type has the mark of a stream's last event
	// that A2A 0.3 has and 1.0 has not.
	tellsFinal bool
}

var clients = []client{
	{"js", "`@a2a-js/sdk` 1.3.0 (npm)", []string{
		"1.0 JSON-RPC", "1.0 HTTP+JSON", "1.0 gRPC", "0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC",
	}, node("js"), false},
	{"js03", "`@a2a-js/sdk` 0.3.14 (npm)", []string{"0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC"}, node("js03"), true},
	{"python", "`a2a-sdk` 1.3.0 (PyPI)", []string{
		"1.0 JSON-RPC", "1.0 HTTP+JSON", "1.0 gRPC", "0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC",
	}, python("python"), false},
	{"python03", "`a2a-sdk` 0.3.26 (PyPI)", []string{"0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC"}, python("python03"), true},
	{"a2ago", "`a2a-go/v2` v2.4.0 (Go)", []string{
		"1.0 JSON-RPC", "1.0 HTTP+JSON", "1.0 gRPC", "0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC",
	}, program("./clients/a2ago"), false},
	{"a2ago03", "`a2a-go` v0.3.15 (Go)", []string{"0.3 JSON-RPC", "0.3 gRPC"}, program("./clients/a2ago03"), true},
	{"trpc", "`trpc-a2a-go` v0.2.5 (Go)", []string{"0.3 JSON-RPC"}, program("./clients/trpc"), true},
	{"adk", "`adk-go` v2.2.0, remote agent (Go)", []string{"1.0 JSON-RPC", "1.0 HTTP+JSON", "1.0 gRPC", "0.3 JSON-RPC"}, adk, false},
}

func program(pkg string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		return []string{build(t, ".", pkg)}
	}
}

// adk is outside the workspace: it asks for a newer Go than the rest.
func adk(t *testing.T) []string {
	t.Helper()
	return []string{build(t, "clients/adk", ".", "GOWORK=off")}
}

func node(id string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		bin, err := exec.LookPath("node")
		if err != nil {
			unavailable(t, "node is missing")
		}
		installed(t, id, "package-lock.json", "node_modules")
		return []string{bin, filepath.Join("clients", id, "client.mjs")}
	}
}

func python(id string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		installed(t, id, "requirements.txt", "venv")
		return []string{filepath.Join("clients", id, "venv", "bin", "python"), filepath.Join("clients", id, "client.py")}
	}
}

// installed checks that install.sh has linked what the lock file asks for now.
func installed(t *testing.T, id, lock, link string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("clients", id, lock))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	target, err := os.Readlink(filepath.Join("clients", id, link))
	if err != nil || filepath.Base(filepath.Dir(target)) != id+"-"+hex.EncodeToString(sum[:])[:16] {
		unavailable(t, "the packages of "+lock+" are not installed for "+id)
	}
	if _, err := os.Stat(target); err != nil {
		unavailable(t, err.Error())
	}
}

// driver is a client's program at work. It is used by one goroutine.
type driver struct {
	base  string // of the server
	in    io.WriteCloser
	lines chan []byte
}

func start(t *testing.T, c client, base string) *driver {
	t.Helper()
	argv := append(c.command(t), base)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said tail
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &driver{base: base, in: in, lines: make(chan []byte, 1)}
	go func() {
		defer close(d.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			d.lines <- append([]byte(nil), scan.Bytes()...)
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		if t.Failed() && len(said) > 0 {
			t.Logf("%s says on standard error:\n%s", c.id, said)
		}
	})
	return d
}

// tail keeps the last of what is written.
type tail []byte

func (b *tail) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	if over := len(*b) - 8<<10; over > 0 {
		*b = (*b)[over:]
	}
	return len(p), nil
}

// patience is how long a call may take: it bounds a hang, no call takes it.
const patience = time.Minute

// call makes one call of the client.
func (d *driver) call(t *testing.T, req wire.Request) wire.Reply {
	t.Helper()
	if err := json.NewEncoder(d.in).Encode(req); err != nil {
		t.Fatalf("the client's program is gone: %v", err)
	}
	select {
	case line, alive := <-d.lines:
		var reply wire.Reply
		if err := json.Unmarshal(line, &reply); err != nil || !alive {
			t.Fatalf("the client's program replied %q: %v", line, err)
		}
		return reply
	case <-time.After(patience):
		t.Fatalf("no answer to %+v: a call that never returns, or a stream that never ends", req)
		return wire.Reply{}
	}
}
