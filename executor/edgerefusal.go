package executor

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/schema"
)

// What the edges refuse without asking anybody.

var (
	tooDeep        = fmt.Sprintf("The JSON is nested deeper than %d levels.", schema.MaxDepth)
	tooDeepMessage = fmt.Sprintf("The message is nested deeper than %d levels.", schema.MaxDepth)
)

// notAllowed refuses an HTTP method.
func notAllowed(allowed ...string) *protocolError {
	e := refuse(a2a.ErrMethodNotFound, "This method is not allowed here.")
	e.kind.http, e.allow = http.StatusMethodNotAllowed, strings.Join(allowed, ", ")
	return e
}

// notFound refuses a path.
func notFound() *protocolError {
	return refuse(a2a.ErrMethodNotFound, "There is nothing at this path.")
}

func tooLargeBody(limit int64) *protocolError {
	e := refuse(a2a.ErrInvalidRequest, fmt.Sprintf("The request is larger than the %d bytes that the server takes.", limit))
	e.kind.http = http.StatusRequestEntityTooLarge
	return e
}

// lateBody refuses a body that did not arrive in time.
func lateBody() *protocolError {
	e := refuse(a2a.ErrInvalidRequest, "The body of the request did not arrive in time.")
	e.kind.http = http.StatusRequestTimeout
	return e
}

// bodyType refuses a body of another type than JSON: it is one of those that a
// web page of any origin may send without asking first. A client that names none
// is let through, but not a browser, which says where it comes from.
func bodyType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	if r.Method != http.MethodPost || given == "" && (r.ContentLength == 0 || r.Header.Get("Origin") == "") {
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if err == nil && (media == mediaJSON || media == mediaA2A) {
		return nil
	}
	e := refuse(a2a.ErrUnsupportedContentType, "The body of a request must be of the type application/json.")
	e.kind.http = http.StatusUnsupportedMediaType
	return e
}

// The versions that are served (A2A v1.0 section 3.6).
const (
	version10 = "1.0"
	version03 = "0.3"
)

var versionForm = regexp.MustCompile(`^(\d+\.\d+)(\.\d+)?$`)

// negotiate gives the version that a request names, of those that are served
// where it came, empty where it names none. Patch numbers do not count.
func negotiate(asked, served []string) (string, *protocolError) {
	version := ""
	for _, a := range asked {
		a = strings.TrimSpace(a)
		if m := versionForm.FindStringSubmatch(a); m != nil {
			a = m[1]
		}
		if version != "" && a != version {
			return "", unserved(served)
		}
		version = a
	}
	if version != "" && !slices.Contains(served, version) {
		return "", unserved(served)
	}
	return version, nil
}

func unserved(served []string) *protocolError {
	return refuse(a2a.ErrVersionNotSupported, "This protocol version is not supported here; supported: "+strings.Join(served, ", ")+".")
}

// pathCard is where clients look for the card (A2A v1.0 section 14.3).
const pathCard = "/.well-known/agent-card.json"
