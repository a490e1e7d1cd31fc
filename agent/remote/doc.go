// Package remote calls other A2A agents: from a handler, from a flow's node, as
// a tool.
//
//	bank, err := remote.New("https://agents.example.com/bank")
//	…
//	answer, err := bank.Call(ctx, remote.Text("balance of 4711"))
//	if err != nil {
//		return answer.Result(), err // what came before the failure is kept
//	}
//	return agent.Text("It is " + answer.Text()), nil
//
// [Agent.Call] waits for the end; [Agent.Stream] forwards what comes to the
// stream of the run that ctx belongs to, chunk by chunk; [Agent.Handle] is a
// whole agent that stands in front of another.
//
// A call behaves like a part of the run that makes it:
//
//   - The remote's failure is an [errcode.Error] with its code, reason, delay and
//     details, and the source http:HOST/AGENT; so is whatever keeps it from
//     answering well. What failed before the remote can have received the message,
//     and what it refused for now, is retried. Once the message was sent it is
//     never sent again: a failure without the remote's word is not retriable and
//     wraps [ErrOutcomeUnknown]. A stream that breaks is opened again, and a
//     request that only reads is repeated: the remote's task goes on meanwhile.
//   - The remote's question parks the caller's task, and the answer goes down to
//     the same remote task when the caller's goes on, after a restart too. Code
//     runs again from its start then, up to the call: the call itself does not
//     begin again. It is known again by its message and by how many of those came
//     before it, see [Key].
//   - Where the caller's run ends early, by a cancel, a timeout, a failure
//     elsewhere, the remote task is cancelled. So is one that waits for an answer
//     when the caller's task is cancelled, expires or ends otherwise. After a
//     restart, or in another process of the same task store, an Agent of the same
//     address and name does it, so make it when the program starts.
//   - The conversation's id and the W3C trace context go along, and each call is
//     a span.
//
// Remote agents speak A2A 1.0 or 0.3, as their card says, over JSON-RPC or
// HTTP+JSON; over gRPC with the option [GRPC].
package remote
