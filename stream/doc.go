// Package stream is what user code streams through while it runs: text, data,
// files, named artifacts and progress.
//
// An agent's Stream function gets a [*Writer]; code further down finds the
// same one in its context with [FromContext]. What is written reaches the
// client at once as updates of the task's artifacts, and stays stored with the
// task even if the run fails later.
//
//	w.Text("Looking up the account… ")
//	w.Data(map[string]any{"balance": 12.5})
//	report := w.Artifact("report.csv", stream.Description("one row a month"))
//	report.File(stream.File{Name: "report.csv", MediaType: "text/csv", Bytes: csv})
//	w.Progress("half way")
//
// Every method is safe for concurrent use, blocks while the reader is behind
// (back-pressure), and returns [ErrClosed] once the run has ended, so that
// nothing can follow a task's last event.
//
// [New] and [Control] are for whoever runs user code: the executor, and tests.
package stream
