package schema

import "slices"

// The requests of A2A 0.3 over JSON-RPC (sections 6 and 7 of its specification).

var (
	// SendMessage03 is for message/send and message/stream.
	SendMessage03 = object(need("message", message03), may("configuration", configuration03), may("metadata", freeObject))

	message03 = object(
		may("kind", oneOf("message")), need("messageId", name), need("role", oneOf("user", "agent")),
		need("parts", nonEmpty("part", part03)), may("contextId", text), may("taskId", text),
		may("referenceTaskIds", list(name)), may("extensions", list(name)), may("metadata", freeObject),
	)

	configuration03 = object(
		may("acceptedOutputModes", list(name)), may("blocking", flag), may("historyLength", count),
		may("pushNotificationConfig", pushConfig03),
	)
	pushConfig03 = object(
		need("url", webhook), may("id", configID), may("token", headerText), may("authentication", auth03),
	)

	// Task03 names a task.
	Task03 = object(need("id", name), may("metadata", freeObject))
	// GetTask03 says how much of a task.
	GetTask03 = object(need("id", name), may("historyLength", count), may("metadata", freeObject))
	// CreatePush03 creates a push notification config.
	CreatePush03 = object(need("taskId", name), need("pushNotificationConfig", pushConfig03))
	// GetPush03 names a config.
	GetPush03 = object(need("id", name), may("pushNotificationConfigId", name), may("metadata", freeObject))
	// DeletePush03 names one to delete.
	DeletePush03 = object(need("id", name), need("pushNotificationConfigId", name), may("metadata", freeObject))

	textPart03 = object(need("text", text), may("metadata", freeObject))
	dataPart03 = object(need("data", freeObject), may("metadata", freeObject))
	filePart03 = object(need("file", file03), may("metadata", freeObject))
	file03     = exactlyOne([]field{may("bytes", base64Text), may("uri", name)}, may("mimeType", text), may("name", text))

	kinds03 = []string{"text", "file", "data"}
)

// part03 is told by its kind.
func part03(c *checker, v any) {
	m, _ := v.(map[string]any)
	kind, _ := m["kind"].(string)
	switch kind {
	case "text":
		textPart03(c, v)
	case "data":
		dataPart03(c, v)
	case "file":
		filePart03(c, v)
	default:
		object(need("kind", oneOf(kinds03...)))(c, v)
	}
	if m != nil && slices.Contains(kinds03, kind) {
		c.misspelt(m, []field{may("kind", text)})
	}
}
