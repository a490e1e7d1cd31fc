package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/stream"
)

// inWords gives a message as a model reads it.
func inWords(req *agent.Request) string {
	var lines []string
	if text := req.Text(); text != "" {
		lines = append(lines, text)
	}
	for _, v := range req.Data() {
		if raw, err := json.Marshal(v); err == nil {
			lines = append(lines, string(raw))
		}
	}
	for _, f := range req.Files() {
		lines = append(lines, fileInWords(f))
	}
	return strings.Join(lines, "\n")
}

func fileInWords(f stream.File) string {
	words := []string{"file"}
	if f.Name != "" {
		words[0] += " " + f.Name
	}
	if f.MediaType != "" {
		words = append(words, f.MediaType)
	}
	if f.URI != "" {
		words = append(words, f.URI)
	} else {
		words = append(words, fmt.Sprintf("%d bytes", len(f.Bytes)))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
