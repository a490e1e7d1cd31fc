package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/executor/executortest"
)

func TestPageThatIsDown(t *testing.T) {
	got := executortest.Run(t, a, "http://127.0.0.1:1")
	got.AssertFailed(t, errcode.UpstreamUnavailable,
		executortest.Reason("connection_refused"),
		executortest.Retriable(true))
}

func TestPageThatIsUp(t *testing.T) {
	up := httptest.NewServer(http.NotFoundHandler())
	defer up.Close()
	executortest.Run(t, a, up.URL).AssertText(t, up.URL+" answers 404 Not Found")
	executortest.Run(t, a, ":").AssertFailed(t, errcode.InvalidInput, executortest.Reason("url_malformed"))
}

// TestReadmeShowsWhatAClientReceives: the README's JSON is this agent's answer,
// but for what differs each time.
func TestReadmeShowsWhatAClientReceives(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```json\n")
	want, _, _ := strings.Cut(rest, "\n```")

	status := executortest.Run(t, a, "http://127.0.0.1:1", executortest.Blocking()).Task.Status
	raw, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	each := regexp.MustCompile(`"(messageId|contextId|taskId|timestamp|correlationId)": "[^"]*"`)
	if got := each.ReplaceAllString(string(raw), `"$1": "…"`); got != want {
		t.Errorf("README.md shows\n%s\nbut the agent answers\n%s", want, got)
	}
}
