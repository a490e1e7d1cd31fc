package tool

import (
	"context"
	"encoding/json"
)

// Model is a language model that can call tools. It must be safe for concurrent
// use if its loop runs several requests at once.
//
// An error is judged by the table, like any other; [ModelError] makes a good one of
// what a vendor's SDK returns. The loop repeats calls whose failure may pass (see
// [ModelRetry]), so a model should not.
type Model interface {
	Generate(ctx context.Context, req ModelRequest) (ModelResponse, error)
}

// ModelRequest is what a model is to go on from. The model must not change what
// it refers to.
type ModelRequest struct {
	// System is the instruction for the whole conversation, "" for none.
	System string
	// Messages is the conversation so far, oldest first.
	Messages []Message
	// Tools are what the model may call.
	Tools []Spec
	// Stream takes the answer's text piece by piece, in order and one call at a
	// time. A model that cannot stream need not call it; nil means that nobody
	// reads along. When it fails, the model should give up with its error.
	Stream func(text string) error
}

// ModelResponse is what a model says: text, calls, or both. Without calls it is
// the end of the conversation.
type ModelResponse struct {
	// Text is the whole text, what was streamed included.
	Text string
	// Calls are what the model wants to know, in its order.
	Calls []Call
	// Raw is what the model wants to see again of this answer, in its own form:
	// signed thoughts, say. Nil for nothing. After a question that has parked the task
	// it comes back as a json.RawMessage.
	Raw any
	// Usage is what the answer took, where the model tells.
	Usage Usage
}

// Usage counts tokens.
type Usage struct{ InputTokens, OutputTokens int64 }

// Role says who speaks in a message.
type Role int

const (
	// User is the role of the zero Message.
	User Role = iota
	// Assistant is the model itself.
	Assistant
	// ToolResults answers the calls of the message before.
	ToolResults
)

// Message is one turn of a conversation with a model.
type Message struct {
	Role Role
	// Text is what the user or the model said.
	Text string
	// Calls are those of the model.
	Calls []Call
	// Results answer the calls of the message before, in their order.
	Results []CallResult
	// Raw is the ModelResponse's.
	Raw any
}

// UserText is a message of the user's.
func UserText(text string) Message { return Message{Text: text} }

// Call is a model's wish to call a tool.
type Call struct {
	// ID joins the call with its result; the loop makes one where there is none.
	ID   string
	Name string
	// Args are the arguments as the model wrote them: nothing is sure about them.
	Args json.RawMessage
}

// CallResult is what came of a call.
type CallResult struct {
	CallID, Name string
	Output
}
