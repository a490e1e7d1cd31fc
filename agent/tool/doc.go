// Package tool gives language models tools, and stands between the two when a
// tool fails.
//
// Tools are those of an MCP server ([Server], over stdio, streamable HTTP or in
// process) and Go functions ([Func]):
//
//	bank := tool.NewServer("MCP-001", tool.HTTP("https://bank.example/mcp", client))
//	defer bank.Close()
//	tools, err := bank.Tools(ctx)
//
// # The guard
//
// What fails in a tool is not always the request's failure. The guard ([Guard])
// has the model repair what it can repair: arguments that are missing or of the
// wrong type, a tool that is down for a moment. A tool that has failed three times in one
// request fails the request, as UPSTREAM_UNAVAILABLE or UPSTREAM_TIMEOUT, with the
// source mcp:SERVER/TOOL. One guarded tool may serve any number of requests at once;
// each counts for itself. The model is told only what is public: one line without
// credentials.
//
// A tool written in Go may ask the user (hitl.Ask), which parks the task, and
// stream (stream.FromContext). Its panics are contained.
//
// # The loop
//
// A [Loop] asks a model, calls the tools it wants and asks again, until it has an
// answer or the limit of rounds is reached:
//
//	loop, err := tool.NewLoop(model, tools, tool.System("You are a teller."))
//	…
//	a := agent.New("bank", agent.Stream(loop.Stream))
//
// A [Model] has one method. The nested modules agent/tool/openaimodel and
// agent/tool/anthropicmodel make one of those vendors' SDKs.
package tool
