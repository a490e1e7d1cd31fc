package interop

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGRPCDetailsArrive: the client of C-core, which those of Python, C++, C# and Ruby
// are, drops a trailer that is too large, and all that it says. No SDK shows the
// metadata in which a response names its extensions, so they are looked at here.
func TestGRPCDetailsArrive(t *testing.T) {
	t.Parallel()
	python := python("python")(t)[0]
	base := showcase(t)
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("clients", "python", "details.py"), grpcAddress(t, base), extension)
	var said tail
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var c struct {
			Call, Status, Activated string
			Details                 map[string]map[string]any
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got[c.Call] = strings.TrimSpace(c.Status + " " + c.Activated + " " + strings.Join(told(c.Details), ", "))
	}
	refused := " ErrorInfo INVALID_PARAMS, Struct INVALID_INPUT, BadRequest"
	want := map[string]string{
		"1.0 extension": "OK " + extension, "0.3 extension": "OK " + extension,
		"1.0 unknown task": "NOT_FOUND  ErrorInfo TASK_NOT_FOUND, Struct NOT_FOUND", "0.3 unknown task": "NOT_FOUND  ErrorInfo TASK_NOT_FOUND, Struct NOT_FOUND",
		"1.0 wrong fields": "INVALID_ARGUMENT " + refused, "0.3 wrong fields": "INVALID_ARGUMENT " + refused,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// told is what details say, shortly.
func told(details map[string]map[string]any) (out []string) {
	for _, c := range []struct{ name, member string }{
		{"google.rpc.ErrorInfo", "reason"}, {"google.protobuf.Struct", "errorCode"}, {"google.rpc.BadRequest", ""}, {"google.rpc.RetryInfo", "retryDelay"},
	} {
		d, ok := details[c.name]
		if !ok {
			continue
		}
		word, _ := d[c.member].(string)
		if violations, _ := d["fieldViolations"].([]any); c.member == "" && len(violations) < 2 {
			word = "without violations"
		}
		out = append(out, strings.TrimSpace(c.name[strings.LastIndex(c.name, ".")+1:]+" "+word))
	}
	return out
}

// grpcAddress is where the card says that gRPC is.
func grpcAddress(t *testing.T, base string) string {
	t.Helper()
	var card struct {
		SupportedInterfaces []struct{ URL, ProtocolBinding string }
	}
	fetch(t, base+"/.well-known/agent-card.json", &card)
	i := slices.IndexFunc(card.SupportedInterfaces, func(i struct{ URL, ProtocolBinding string }) bool { return i.ProtocolBinding == "GRPC" })
	if i < 0 {
		t.Fatal("the card lists no gRPC")
	}
	if _, err := url.Parse("//" + card.SupportedInterfaces[i].URL); err != nil {
		t.Fatal(err)
	}
	return card.SupportedInterfaces[i].URL
}
