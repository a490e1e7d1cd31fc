package executor

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/schema"
)

// operation is one of the protocol's, in the forms that the bindings give it
// (A2A v1.0 section 5.3).
type operation struct {
	name   string // of A2A 1.0, over JSON-RPC and gRPC
	old    string // over JSON-RPC 0.3, empty where there is none
	host   string // as the host calls it in a CallContext
	verb   string // over HTTP+JSON, with the path
	path   string
	params schema.Rule // the fields of the request
	oldish schema.Rule // the same in 0.3
	rest03 schema.Rule // the same in protocol buffers of 0.3, where it is not as in 1.0
	query  bool        // over HTTP+JSON they are in the query
	push   bool        // it is about push notifications
	stream bool        // it answers with a stream
}

const (
	opSendMessage   = "SendMessage"
	opSendStreaming = "SendStreamingMessage"
)

// operations has all of them.
var operations = []operation{
	{
		name: opSendMessage, old: "message/send", verb: http.MethodPost, path: "/message:send",
		params: schema.SendMessage, oldish: schema.SendMessage03, rest03: schema.SendMessageREST03,
	},
	{
		name: opSendStreaming, stream: true, old: "message/stream", verb: http.MethodPost, path: "/message:stream",
		params: schema.SendMessage, oldish: schema.SendMessage03, rest03: schema.SendMessageREST03,
	},
	{
		name: "GetTask", old: "tasks/get", verb: http.MethodGet, path: "/tasks/{id}",
		params: schema.GetTask, oldish: schema.GetTask03, query: true,
	},
	{
		name: "ListTasks", verb: http.MethodGet, path: "/tasks", query: true,
		params: schema.ListTasks, rest03: schema.ListTasksREST03,
	},
	{
		name: "CancelTask", old: "tasks/cancel", verb: http.MethodPost, path: "/tasks/{id}:cancel",
		params: schema.Task, oldish: schema.Task03,
	},
	{
		name: "SubscribeToTask", stream: true, old: "tasks/resubscribe", verb: http.MethodPost, path: "/tasks/{id}:subscribe",
		params: schema.Task, oldish: schema.Task03,
	},
	{ // as the protocol's own HTTP annotation has it
		name: "SubscribeToTask", stream: true, verb: http.MethodGet, path: "/tasks/{id}:subscribe", params: schema.Task, query: true,
	},
	{
		name: "CreateTaskPushNotificationConfig", old: "tasks/pushNotificationConfig/set", host: "CreateTaskPushConfig", push: true,
		verb: http.MethodPost, path: "/tasks/{taskId}/pushNotificationConfigs",
		params: schema.CreatePush, oldish: schema.CreatePush03, rest03: schema.CreatePushREST03,
	},
	{
		name: "GetTaskPushNotificationConfig", old: "tasks/pushNotificationConfig/get", host: "GetTaskPushConfig", push: true, query: true,
		verb: http.MethodGet, path: "/tasks/{taskId}/pushNotificationConfigs/{id}", params: schema.Push, oldish: schema.GetPush03,
	},
	{
		name: "ListTaskPushNotificationConfigs", old: "tasks/pushNotificationConfig/list", host: "ListTaskPushConfigs", push: true, query: true,
		verb: http.MethodGet, path: "/tasks/{taskId}/pushNotificationConfigs", params: schema.ListPush, oldish: schema.Task03,
	},
	{
		name: opDeletePush, old: "tasks/pushNotificationConfig/delete", host: "DeleteTaskPushConfig", push: true, query: true,
		verb: http.MethodDelete, path: "/tasks/{taskId}/pushNotificationConfigs/{id}", params: schema.Push, oldish: schema.DeletePush03,
	},
	{
		name: "GetExtendedAgentCard", old: "agent/getAuthenticatedExtendedCard", verb: http.MethodGet, path: "/extendedAgentCard",
		params: schema.None, oldish: schema.Free, query: true,
	},
}

const opDeletePush = "DeleteTaskPushNotificationConfig"

func knownOperation(name string) bool {
	return slices.ContainsFunc(operations, func(o operation) bool { return o.name == name })
}

// operationOf is the A2A 1.0 name of what the host calls method.
func operationOf(method string) string {
	for _, o := range operations {
		if o.host == method {
			return o.name
		}
	}
	return method
}

// byRPC finds the operation of a JSON-RPC method, nil where there is none.
func byRPC(method string, old bool) *operation {
	for i := range operations {
		o := &operations[i]
		if !old && o.name == method || old && o.old != "" && o.old == method {
			return o
		}
	}
	return nil
}

// taskOf is the task that a request names, in either generation.
func (o *operation) taskOf(tree any, old bool) a2a.TaskID {
	m, _ := tree.(map[string]any)
	for _, name := range []string{"message", "request"} { // the latter in protocol buffers of 0.3
		if message, ok := m[name].(map[string]any); ok {
			return firstID(message, "taskId", "task_id")
		}
	}
	switch id := cmp.Or(firstID(m, "name"), firstID(m, "parent")); {
	case o.push && !old: // where id is the config's
		return firstID(m, "taskId")
	case old && strings.HasPrefix(string(id), "tasks/"): // of gRPC
		return a2a.TaskID(taskOfResource(string(id)))
	}
	return firstID(m, "taskId", "id")
}

// firstID is the first of these members that is a text.
func firstID(m map[string]any, names ...string) a2a.TaskID {
	for _, name := range names {
		if id, ok := m[name].(string); ok {
			return a2a.TaskID(id)
		}
	}
	return ""
}

// checkOperation checks a request as it came: is it for something that this
// server does, and are its fields what they should be? It gives the request as
// the bindings read it, nil where that is how it came.
func (c *config) checkOperation(x *exchange, o *operation, r schema.Rule, tree any, twice []errcode.Violation) (settled any, err error) {
	x.taskID = o.taskOf(tree, x.old)
	if o.push && !c.capabilities().PushNotifications {
		return nil, refuse(a2a.ErrPushNotificationNotSupported, "")
	}
	settled, changed, found := schema.Settle(r, tree)
	if found = append(found, twice...); len(found) > 0 {
		if found[0].Field == "" { // it is no object
			found[0].Field = x.whole
		}
		return nil, refuseParams(found[:min(len(found), schema.MaxViolations)]...)
	}
	x.checked = true
	if m, ok := settled.(map[string]any); ok && !x.old { // whose answers name no next page
		x.pageToken, _ = m["pageToken"].(string)
		if n, ok := m["pageSize"].(json.Number); ok {
			size, _ := n.Int64() // which is known to be one
			x.pageSize = int(size)
		}
	}
	if !changed {
		return nil, nil //nolint:nilnil // as it says
	}
	return settled, nil
}

// byPath finds the operation of an HTTP+JSON request, and what its path says.
// Where only the method is wrong it gives those that are allowed; where the
// path is unknown, none.
func byPath(verb, escaped string, table []operation) (op *operation, fields map[string]string, allowed []string) {
	for i := range table {
		o := &table[i]
		got, ok := matchPath(o.path, escaped)
		if !ok {
			continue
		}
		if o.verb == verb {
			return o, got, nil
		}
		allowed = append(allowed, o.verb)
	}
	return nil, nil, allowed
}

// matchPath matches an escaped path against a pattern of segments, of which one
// that begins with {name} takes a value.
func matchPath(pattern, escaped string) (fields map[string]string, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(escaped, "/")
	if len(want) != len(got) {
		return nil, false
	}
	fields = map[string]string{}
	for i, w := range want {
		value, err := url.PathUnescape(got[i])
		if err != nil {
			return nil, false
		}
		name, action, isField := strings.Cut(strings.TrimPrefix(w, "{"), "}")
		switch {
		case !strings.HasPrefix(w, "{") || !isField:
			if w != value {
				return nil, false
			}
			continue
		case action == "" && i == len(want)-1 && want[i-1] == "tasks" && (strings.HasSuffix(value, ":cancel") || strings.HasSuffix(value, ":subscribe")):
			return nil, false
		case !strings.HasSuffix(value, action):
			return nil, false
		}
		id := strings.TrimSuffix(value, action)
		if !isSegment(id) {
			return nil, false
		}
		fields[name] = id
	}
	return fields, true
}

// isSegment reports whether a name stands in a path as what it is.
func isSegment(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.Contains(s, "/") && utf8.ValidString(s)
}

// pathREST03 is where HTTP+JSON 0.3 puts its paths.
const pathREST03 = "/v1"

// operations03 are the operations as HTTP+JSON 0.3 has them.
func operations03() []operation {
	out := slices.Clone(operations)
	for i := range out {
		out[i].path = pathREST03 + out[i].path
		if out[i].rest03 != nil {
			out[i].params = out[i].rest03
		}
		if out[i].name == "GetExtendedAgentCard" {
			out[i].path = pathREST03 + "/card"
		}
	}
	return out
}
