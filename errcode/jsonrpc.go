package errcode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The range of the codes that JSON-RPC reserves.
const (
	minJSONRPC = -32768
	maxJSONRPC = -32000
)

// jsonrpcCodes maps the JSON-RPC codes of A2A (v1.0 section 5.4 and the host's own). Every other
// code is Internal.
var jsonrpcCodes = []struct {
	code Code
	rpc  []int
}{
	{InvalidInput, []int{-32700, -32600, -32601, -32602, -32002, -32003, -32004, -32005, -32008, -32009}},
	{NotFound, []int{-32001, -32007}},
	{AuthRequired, []int{-31401, -31403}},
	{Internal, []int{-32603, -32006}},
}

// mcpCodes are the codes to which MCP gives another meaning: a resource that is not found, a client
// or a server that is closing.
var mcpCodes = map[int]Class{
	-32001: static(Internal, ""),
	-32002: static(NotFound, ""),
	-32003: static(UpstreamUnavailable, "connection_closed"),
	-32004: static(UpstreamUnavailable, "connection_closed"),
	-32005: static(UpstreamUnavailable, ""),
}

// FromJSONRPC returns the code that stands for a JSON-RPC error code of A2A: [Internal] for one
// that is not defined.
func FromJSONRPC(code int) Code {
	for _, r := range jsonrpcCodes {
		if slices.Contains(r.rpc, code) {
			return r.code
		}
	}
	return Internal
}

func isJSONRPC(code int) bool {
	return minJSONRPC <= code && code <= maxJSONRPC || code == -31401 || code == -31403
}

// wireRows are JSON-RPC errors as clients give them to their callers, MCP's among them.
func wireRows() []row {
	answers := make([]answer, 0, len(jsonrpcCodes)+1)
	for _, r := range jsonrpcCodes {
		answers = append(answers, answer{"code " + joinNames(r.rpc), static(r.code, "")})
	}
	return []row{
		{
			name: "MCP error", probe: mcpShape, answers: mcpAnswers(),
			when: "an error of an MCP client with the JSON-RPC code",
		},
		{
			name: "JSON-RPC error", probe: jsonrpcShape,
			when:    "a JSON-RPC error: fields Code, Message and Data, or a method ErrorCode() int, with",
			answers: append(answers, answer{fmt.Sprintf("another code from %d to %d", minJSONRPC, maxJSONRPC), static(Internal, "")}),
		},
		textRow(),
	}
}

func mcpAnswers() []answer {
	as := make([]answer, 0, len(mcpCodes))
	for _, code := range []int{-32001, -32002, -32003, -32004, -32005} {
		as = append(as, answer{fmt.Sprint(code), mcpCodes[code]})
	}
	return as
}

type rpcCoder interface{ ErrorCode() int }

// rpcReader finds the code of a JSON-RPC error: a method, or a field beside the two others that
// every such error has.
func rpcReader(t reflect.Type) func(error) int {
	if t.Implements(reflect.TypeFor[rpcCoder]()) {
		return func(err error) int { return err.(rpcCoder).ErrorCode() } //nolint:errcheck // t implements it
	}
	message, ok := exported(t, "Message")
	data, has := exported(t, "Data")
	if !ok || !has || message.Type.Kind() != reflect.String {
		return nil
	}
	switch data.Type {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[*json.RawMessage](), reflect.TypeFor[any]():
		return intReader(t, "Code")
	default:
		return nil
	}
}

func jsonrpcShape(t reflect.Type) matcher {
	code := rpcReader(t)
	if code == nil {
		return nil
	}
	return func(err error) (Class, bool) {
		n := code(err)
		return static(FromJSONRPC(n), ""), isJSONRPC(n)
	}
}

// mcpShape recognises the JSON-RPC errors of MCP's libraries by their package.
func mcpShape(t reflect.Type) matcher {
	code := rpcReader(t)
	s := structOf(t)
	if code == nil || s == nil || !strings.Contains(s.PkgPath(), "modelcontextprotocol") {
		return nil
	}
	return func(err error) (Class, bool) {
		c, ok := mcpCodes[code(err)]
		return c, ok
	}
}

func joinNames[T any](names []T) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(names), " ", ", "), "[]")
}
