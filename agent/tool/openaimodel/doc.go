// Package openaimodel makes a model for package agent/tool of OpenAI's Go SDK, by
// the Chat Completions API, which many other vendors and servers speak too.
//
//	client := openai.NewClient(option.WithAPIKey(key))
//	loop, err := tool.NewLoop(openaimodel.New(client, openai.ChatModelGPT5), tools)
//
// The SDK's own retries are off: the loop repeats calls by the table, obeys
// Retry-After, and never repeats an answer of which a part was read.
package openaimodel
