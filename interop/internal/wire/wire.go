// Package wire is what the interoperability test and its client programs say
// to each other: one JSON request a line, answered by one JSON line. The
// programs in other languages speak the same.
package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
)

// Request asks a program to make one call of its client.
type Request struct {
	// Binding is the generation and the binding: "1.0 JSON-RPC", "0.3 gRPC" …
	Binding string `json:"binding"`
	// Op is send (wait for the end), submit (do not), stream, get or cancel.
	Op        string `json:"op"`
	Text      string `json:"text,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	ContextID string `json:"contextId,omitempty"`
	// Extension is the URI of an extension to ask for.
	Extension string `json:"extension,omitempty"`
	// Cancel cancels a stream's task as soon as its first event is there.
	Cancel bool `json:"cancel,omitempty"`
}

// Reply is what the client gave its caller.
type Reply struct {
	Events []Event  `json:"events"`
	Error  *Failure `json:"error"`
	// Activated is the header by which an HTTP response names the extensions
	// that are active. Clients have no word for it, so the programs read it
	// off the response; nil where there is none.
	Activated *string `json:"activated"`
}

// Event is a task, a status update, an artifact update or a message, as the
// client's own type has it.
type Event struct {
	Kind      string     `json:"kind"`
	TaskID    string     `json:"taskId"`
	ContextID string     `json:"contextId"`
	State     string     `json:"state,omitempty"`
	Parts     []Part     `json:"parts,omitempty"` // of the status message
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Append    bool       `json:"append,omitempty"`
	LastChunk bool       `json:"lastChunk,omitempty"`
	Final     *bool      `json:"final,omitempty"` // nil: the generation has none
	// Failure is the error message of an event that is not the protocol's own.
	Failure string `json:"failure,omitempty"`
}

// Artifact is an artifact, or a piece of one.
type Artifact struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Parts []Part `json:"parts"`
}

// Part is a text, data, or something Other.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // numbers as the client gives them
	Other     string          `json:"other,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Metadata  map[string]any  `json:"metadata,omitempty"`
}

// Failure is the error that the client gave, with what of it a program can
// branch on.
type Failure struct {
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	Code    int    `json:"code,omitempty"`   // of JSON-RPC
	Status  int    `json:"status,omitempty"` // of HTTP
	GRPC    int    `json:"grpc,omitempty"`
}

// TextPart makes a part of a text.
func TextPart(text string, metadata map[string]any) Part {
	return Part{Text: &text, Metadata: metadata}
}

// DataPart makes a part of a value that JSON has.
func DataPart(value any, metadata map[string]any) Part {
	raw, err := json.Marshal(value)
	if err != nil {
		return Part{Other: err.Error()}
	}
	return Part{Data: raw, Metadata: metadata}
}

// Call makes one call and keeps its events, those before an error too.
type Call func(ctx context.Context, req Request, keep func(Event)) error

// Serve answers requests from standard input, one at a time, until it ends.
func Serve(call Call, headers *Headers) error {
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var req Request
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return fmt.Errorf("decode request: %w", err)
		}
		reply := Reply{Events: []Event{}}
		headers.activated = nil
		if err := call(context.Background(), req, func(e Event) { reply.Events = append(reply.Events, e) }); err != nil {
			reply.Error = failure(err)
		}
		reply.Activated = headers.activated
		if err := out.Encode(reply); err != nil {
			return fmt.Errorf("encode reply: %w", err)
		}
	}
	return lines.Err()
}

// failure describes an error; a Go client is branched on by errors.Is, which
// the program has turned into a NamedError.
func failure(err error) *Failure {
	f := &Failure{Message: err.Error(), Name: reflect.TypeOf(err).String()}
	var named NamedError
	if errors.As(err, &named) {
		f.Name = named.Name
	}
	return f
}

// NamedError is an error that errors.Is told to be the sentinel of this name.
type NamedError struct {
	Name string
	Err  error
}

// Error implements error.
func (n NamedError) Error() string { return n.Err.Error() }

// Unwrap gives the client's error.
func (n NamedError) Unwrap() error { return n.Err }

// Name gives err the name of the first sentinel that it is.
func Name(err error, sentinels map[string]error) error {
	for name, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			return NamedError{Name: name, Err: err}
		}
	}
	return err
}

// Headers is a round tripper that remembers what the last response said of
// extensions. Its client must not be used by two goroutines at once.
type Headers struct{ activated *string }

// RoundTrip implements http.RoundTripper.
func (h *Headers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
		if v := res.Header.Get(name); v != "" {
			h.activated = &v
		}
	}
	return res, nil
}

// Fatal ends a program that could not serve.
func Fatal(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
