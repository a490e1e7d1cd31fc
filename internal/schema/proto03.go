package schema

import (
	"encoding/base64"
	"strings"
)

// The requests of A2A 0.3 over HTTP+JSON and gRPC: the protocol buffers of 0.3, in
// their JSON form, whose parsers take a field by its own name, too: "message_id" for
// "messageId".

var (
	// SendMessageREST03 is for message:send and message:stream.
	SendMessageREST03 = object(
		field{"message", messageREST03, true, "request"}, may("configuration", configurationREST03), may("metadata", freeObject),
	)

	messageREST03 = object(buffered(
		need("messageId", name), need("role", oneOf("ROLE_USER", "ROLE_AGENT")), field{"content", nonEmpty("part", partREST03), true, "parts"}, // whose name changed
		may("contextId", text), may("taskId", text), may("referenceTaskIds", list(name)),
		may("extensions", list(name)), may("metadata", freeObject),
	)...)

	configurationREST03 = object(buffered(
		may("acceptedOutputModes", list(name)), may("blocking", flag), may("historyLength", count),
		may("pushNotification", pushConfig03),
	)...)

	// CreatePushREST03 creates a push notification config.
	CreatePushREST03 = oneConfig(object(buffered(
		need("taskId", name), may("parent", text), may("configId", configID), need("config", taskPushConfig03),
	)...))
	taskPushConfig03 = object(buffered(may("name", text), need("pushNotificationConfig", pushConfig03))...)

	// ListTasksREST03 lists tasks.
	ListTasksREST03 = object(
		may("contextId", text), may("status", state03), may("pageSize", whole(1, 100)), may("pageToken", text),
		may("historyLength", count), may("lastUpdatedAfter", timestamp), may("lastUpdatedTime", timestamp), may("includeArtifacts", flag),
	)

	// GetTaskGRPC03 names a task as a resource, as gRPC 0.3 does.
	GetTaskGRPC03 = object(need("name", resource("tasks")), may("historyLength", count))
	// TaskGRPC03 is for CancelTask and TaskSubscription.
	TaskGRPC03 = object(need("name", resource("tasks")))
	// GetPushGRPC03 names a config, or with an empty id that of a task.
	GetPushGRPC03 = object(need("name", configOrNone))
	// PushGRPC03 names a config.
	PushGRPC03 = object(need("name", resource("tasks", "pushNotificationConfigs")))
	// ListPushGRPC03 lists those of a task.
	ListPushGRPC03 = object(need("parent", resource("tasks")), may("pageSize", count), may("pageToken", text))
	// CreatePushGRPC03 creates a config.
	CreatePushGRPC03 = object(need("parent", resource("tasks")), may("configId", configID), need("config", taskPushConfig03))

	contentsREST03 = []field{may("text", text), may("file", fileREST03), may("data", object(need("data", Free)))}
	partREST03     = exactlyOne(contentsREST03, may("metadata", freeObject))
	fileREST03     = exactlyOne(buffered(may("fileWithUri", name), may("fileWithBytes", bytes03)), buffered(may("mimeType", text), may("name", text))...)

	states03 = append([]string{"TASK_STATE_CANCELLED"}, states...)
)

// resource is the name of a resource: "tasks/{id}".
func resource(collections ...string) Rule {
	form := strings.Join(collections, "/{id}/") + "/{id}"
	return func(c *checker, v any) {
		s, _ := v.(string)
		segments := strings.Split(s, "/")
		ok := len(segments) == 2*len(collections)
		for i := 0; ok && i < len(segments); i += 2 {
			ok = segments[i] == collections[i/2] && segments[i+1] != ""
		}
		if !ok {
			c.fail("expected a name of the form %s", form)
		}
	}
}

func configOrNone(c *checker, v any) {
	s, _ := v.(string)
	if task, none := strings.CutSuffix(s, "/pushNotificationConfigs/"); none {
		resource("tasks")(c, task)
		return
	}
	resource("tasks", "pushNotificationConfigs")(c, v)
}

// buffered lets fields go by their names in the protocol buffers, too.
func buffered(fields ...field) []field {
	for i, f := range fields {
		var own strings.Builder
		for _, r := range f.name {
			if 'A' <= r && r <= 'Z' {
				own.WriteByte('_')
				r += 'a' - 'A'
			}
			own.WriteRune(r)
		}
		if own.String() != f.name {
			fields[i].other = own.String()
		}
	}
	return fields
}

// state03 is one of 0.3, which writes one of them otherwise.
func state03(c *checker, v any) {
	if v != "TASK_STATE_UNSPECIFIED" {
		oneOf(states03...)(c, v)
	}
}

// oneConfig takes the config itself for the request to create it, too: the
// protocol buffers name the one as the message and the other as the body.
func oneConfig(request Rule) Rule {
	return func(c *checker, v any) {
		m, ok := v.(map[string]any)
		if !ok || m["config"] != nil || m["pushNotificationConfig"] == nil && m["push_notification_config"] == nil {
			request(c, v)
			return
		}
		id := m["taskId"]
		taskPushConfig03(c, m)
		c.usual = map[string]any{"taskId": id, "config": m}
	}
}

// bytes03 are the bytes of a file. SDKs differ in whether these are what the file
// has, or base64 of it once more; the host writes and reads the latter.
func bytes03(c *checker, v any) {
	s, ok := v.(string)
	if ok && s == "" {
		c.fail("must not be empty")
		return
	}
	before := len(c.found)
	base64Text(c, v)
	if len(c.found) > before {
		return
	}
	c.usual = nil
	b, _ := decode64(s) // which was checked
	inner, err := decode64(string(b))
	if err != nil {
		inner = b
	}
	twice := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(inner)))
	if twice != s {
		c.usual = twice
	}
}
