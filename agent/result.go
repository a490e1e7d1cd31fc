package agent

import "github.com/a2aexec/a2aexec/stream"

// Result is what a run produced. The zero Result is a completed task without
// artifacts. It belongs to the executor once returned.
type Result struct {
	// Artifacts are added to the task in this order, after what was streamed.
	// One without parts is left out, for an artifact must have some.
	Artifacts []Artifact
	// Note is a word to people in the final status message: why the result is
	// empty, why the task was rejected. Empty: no message (completed), or a
	// general one (rejected).
	Note string
	// Rejected says that the agent declines the task (state rejected). It is
	// an answer, not a failure: no errorCode is sent.
	Rejected bool
}

// Artifact is one artifact of a result.
type Artifact struct {
	// Name and Description are for people; both optional.
	Name, Description string
	// Parts is the content; see stream.TextPart, DataPart and FilePart.
	Parts []stream.Part
	// Metadata is added to the artifact. What JSON cannot express is left out.
	Metadata map[string]any
}

// Text is a completed result of one text. An empty text gives no artifact.
func Text(text string) *Result {
	if text == "" {
		return &Result{}
	}
	return parts(stream.TextPart(text))
}

// Data is a completed result of one JSON value. It is also the way to say
// "nothing found": that is a result, on which the task can build, not an error.
//
//	res := agent.Data(map[string]any{"found": 0})
//	res.Note = "No account has that number."
func Data(v any) *Result { return parts(stream.DataPart(v)) }

// Files is a completed result of one artifact with these files.
func Files(files ...stream.File) *Result {
	ps := make([]stream.Part, 0, len(files))
	for _, f := range files {
		ps = append(ps, stream.FilePart(f))
	}
	return parts(ps...)
}

// Artifacts is a completed result of these artifacts.
func Artifacts(artifacts ...Artifact) *Result { return &Result{Artifacts: artifacts} }

// Rejected is the result of an agent that declines the task, with the reason
// for people.
func Rejected(why string) *Result { return &Result{Rejected: true, Note: why} }

func parts(ps ...stream.Part) *Result { return Artifacts(Artifact{Parts: ps}) }
