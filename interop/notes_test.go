package interop

// notes say of each known fault what happens and why.
var notes = map[string]string{
	"js-stream-error": "An error in a JSON-RPC stream is a plain `Error` whose text holds the JSON of it; there is no code and no class to branch on.",
	"js-append":       "Where 0.3 is protocol buffers the client drops `append`: every piece of an artifact looks like a new artifact of the same id. Put pieces of one id together, or read the artifact of the task with `getTask`.",
	"js-metadata":     "Where 0.3 is protocol buffers, over HTTP+JSON and gRPC, the client drops the metadata of parts: know the data part by its `errorCode`, not by its schema.",

	"a2ago-data":        "The compatibility client expects an array at the `error.data` of A2A 0.3, as its own server sends it, and cannot decode the object that 0.3 and its other clients have there (v0.3.15 of the same library, say): it knows no more than that its call failed.",
	"python-floats":     "Numbers in data pass through `google.protobuf.Struct`, and are floats: `60000.0`.",
	"python-status":     "Over HTTP+JSON the client raises `A2AClientHTTPError` with the HTTP status, and drops the body.",
	"python-grpc03":     "Over gRPC 0.3 an error is known by the words that the status message begins with, as the SDK's own server writes them; from other servers it is an `A2AClientError`.",
	"trpc-stream-error": "An error in a stream is written to the log; the caller sees a channel that closes without an event.",

	"adk-session":    "A remote agent is a partner in a conversation: artifacts and status message are one content, a failed task is an event with `ErrorMessage`, the data part is inline data of type `text/plain` between `<a2a_datapart_json>` and `</a2a_datapart_json>`, and its metadata is gone.",
	"adk-operations": "A remote agent has no operations on tasks: no get, no cancel, no message to a task that the caller names.",
	"adk-cancel":     "The remote agent cancels the task when its caller leaves the run.",
	"adk-auth":       "The remote agent takes auth-required for work in progress: a stream shows the question as a thought, and then the remote agent cancels the task.",
	"adk-answer":     "Only a response to a function call resumes a task, which is how ADK's own agents ask. A text begins a new task in the same context.",
}
