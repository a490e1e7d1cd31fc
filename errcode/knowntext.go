package errcode

import (
	"errors"
	"reflect"
	"slices"
)

// knownTexts are errors that libraries make with errors.New and that cannot be named here without
// importing them. Only the whole text of such an error counts, never a part of it.
var knownTexts = []struct {
	class Class
	texts []string
}{
	{static(UpstreamUnavailable, "connection_closed"), []string{
		"connection closed",  // MCP
		"conn closed",        // pgx
		"invalid connection", // MySQL
		"http2: client connection lost",
		"http2: client connection force closed via ClientConn.Close",
		"http2: client conn is closed",
		"http2: client conn not usable",
		"http2: Transport received Server's graceful shutdown GOAWAY",
		"http: server closed idle connection",
	}},
	{static(UpstreamUnavailable, "network_error"), []string{ // HTTP/1.1, in the middle of a body
		"malformed chunked encoding",
		"invalid byte in chunk length",
		"empty hex number for chunk length",
		"http chunk length too large",
		"chunked encoding contains too much non-data",
		"chunked line ends with bare LF",
		"invalid CR in chunked line",
	}},
	{static(UpstreamUnavailable, "pool_exhausted"), []string{"redis: connection pool exhausted"}},
	{static(UpstreamTimeout, "pool_timeout"), []string{"redis: connection pool timeout"}},
	{static(NotFound, "session_not_found"), []string{"session not found"}}, // MCP
}

var errorStringType = reflect.TypeOf(errors.New(""))

func textRow() row {
	answers := make([]answer, len(knownTexts))
	for i, r := range knownTexts {
		answers[i].class = r.class
		for j, text := range r.texts {
			if j > 0 {
				answers[i].when += ", "
			}
			answers[i].when += `"` + text + `"`
		}
	}
	return row{
		name: "known text", types: typesOf(errorStringType), match: textClass, answers: answers,
		when: "an error of errors.New whose whole text is",
	}
}

func textClass(err error) (Class, bool) {
	text := errorText(err)
	for i := range knownTexts {
		if slices.Contains(knownTexts[i].texts, text) {
			return knownTexts[i].class, true
		}
	}
	return Class{}, false
}
