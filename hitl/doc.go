// Package hitl asks the human (or the calling agent) in the loop.
//
// A question is not a failure: the task is parked as input-required (or, for
// credentials, as auth-required: [AuthRequired]), what was
// done so far stays, and the next message on the task runs the agent again
// with the answer.
//
//	if birthday == "" {
//		return nil, hitl.InputRequired("What is your date of birth?",
//			hitl.Payload(map[string]any{"format": "YYYY-MM-DD"}))
//	}
//
// [InputRequired] makes an error in the manner of fs.SkipDir: it is returned
// to whoever runs the code, may be wrapped on its way, and never enters the
// table that classifies failures. On resume the agent reads the question with
// Request.Question and the answer with Request.Text or Request.Data.
//
// Code that asks on behalf of something else keeps with the question what it
// needs to find that again: [Memo], [Recall].
//
// On the wire (A2A v1.0 section 4.1.3, TASK_STATE_INPUT_REQUIRED) the status
// message has a text part with the prompt for people and a data part with the
// payload for programs, whose metadata names [Schema].
package hitl
