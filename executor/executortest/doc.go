// Package executortest runs an agent in a test, in-process but through the
// whole stack, and asserts on what a client would see.
//
//	got := executortest.Run(t, a, "hello")
//	got.AssertFailed(t, errcode.UpstreamUnavailable,
//		executortest.Reason("component_invoke_error"),
//		executortest.Retriable(true))
//
// [Run] itself fails the test when the events are not in a legal order
// ([CheckOrder]), when the stored task is not what they told ([CheckStored]),
// or when the task does not end.
package executortest
