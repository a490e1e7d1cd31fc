// Package anthropicmodel makes a model for package agent/tool of Anthropic's Go
// SDK, by the Messages API.
//
//	client := anthropic.NewClient(option.WithAPIKey(key))
//	loop, err := tool.NewLoop(anthropicmodel.New(client, "claude-sonnet-5"), tools)
//
// The SDK's own retries are off: the loop repeats calls by the table, obeys
// Retry-After, and never repeats an answer of which a part was read. Signed
// thoughts go back to the model as they came.
package anthropicmodel
