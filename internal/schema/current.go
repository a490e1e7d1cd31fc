package schema

import (
	"math"
	"strings"
)

// The requests of A2A 1.0 (sections 3.1 and 3.2; the fields are those of the
// protocol buffers).

var (
	count = whole(0, math.MaxInt32)

	// Envelope is the request object of JSON-RPC 2.0. What its id and params may
	// be is left to others, but not their names: "PARAMS" would be them, too.
	Envelope = object(need("jsonrpc", oneOf("2.0")), need("method", name), may("id", anything), may("params", anything))

	// SendMessage is for SendStreamingMessage too.
	SendMessage = object(
		need("message", message), may("configuration", configuration), may("metadata", freeObject), may("tenant", text),
	)

	message = object(
		need("messageId", name), need("role", oneOf("ROLE_USER", "ROLE_AGENT")), need("parts", nonEmpty("part", part)),
		may("contextId", text), may("taskId", text), may("referenceTaskIds", list(name)),
		may("extensions", list(name)), may("metadata", freeObject),
	)

	configuration = object(
		may("acceptedOutputModes", list(name)), may("returnImmediately", flag), may("historyLength", count),
		may("taskPushNotificationConfig", pushConfig),
	)

	pushFields = []field{
		need("url", webhook), may("id", configID), may("token", headerText), may("taskId", text), may("tenant", text),
		may("authentication", object(need("scheme", authScheme), may("credentials", headerText))),
	}
	pushConfig = object(pushFields...)
	// CreatePush creates a push notification config.
	CreatePush = object(append([]field{need("taskId", name)}, pushFields...)...)
	// Push names a config.
	Push = object(need("taskId", name), need("id", name), may("tenant", text))
	// ListPush lists those of a task.
	ListPush = object(need("taskId", name), may("pageSize", count), may("pageToken", text), may("tenant", text))

	// Task names a task.
	Task = object(need("id", name), may("metadata", freeObject), may("tenant", text))
	// GetTask says how much of a task.
	GetTask = object(need("id", name), may("historyLength", count), may("tenant", text))

	// ListTasks lists tasks.
	ListTasks = object(
		may("contextId", text), may("status", state), may("pageSize", whole(1, 100)), may("pageToken", text),
		may("historyLength", count), may("statusTimestampAfter", timestamp), may("includeArtifacts", flag), may("tenant", text),
	)
	// None is for operations without parameters.
	None = object(may("tenant", text))

	states = []string{
		"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
		"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED",
	}

	contents = []field{may("text", text), may("raw", base64Text), may("url", name), may("data", Free)}
	part     = exactlyOne(contents, may("filename", text), may("mediaType", text), may("metadata", freeObject))
)

// state is one that a task can be in; the name of none counts as absent.
func state(c *checker, v any) {
	if v != "TASK_STATE_UNSPECIFIED" {
		oneOf(states...)(c, v)
	}
}

// exactlyOne is an object with one of the contents, and fields beside it.
func exactlyOne(contents []field, beside ...field) Rule {
	whole := object(append(beside, contents...)...)
	names := make([]string, len(contents))
	for i, f := range contents {
		names[i] = f.name
	}
	all := strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	return func(c *checker, v any) {
		whole(c, v)
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		var has []string
		for _, n := range names {
			if m[n] != nil {
				has = append(has, n)
			}
		}
		switch {
		case len(has) == 0:
			c.fail("expected one of %s", all)
		case len(has) > 1:
			c.fail("expected one of %s, got %s", all, strings.Join(has, " and "))
		}
	}
}
