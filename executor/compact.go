package executor

import (
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// compact joins a chunk of text to the text that it continues, in the task
// about to be stored. The host keeps each chunk as a part of its own and copies
// all of them three times for each event; joined, a long stream costs
// little more than its bytes, and whoever gets the task reads one text. Where
// chunks are cut has no meaning: the writer merges them too.
//
// The task is the host's own: what is joined here stays so.
func compact(req *taskstore.UpdateRequest) {
	ev, ok := req.Event.(*a2a.TaskArtifactUpdateEvent)
	if !ok || !ev.Append || ev.Artifact == nil {
		return
	}
	for _, a := range req.Task.Artifacts {
		if a != nil && a.ID == ev.Artifact.ID {
			a.Parts = join(a.Parts, len(a.Parts)-len(ev.Artifact.Parts))
		}
	}
}

// join joins the parts before and after the seam, where both are plain text.
func join(parts a2a.ContentParts, seam int) a2a.ContentParts {
	if seam < 1 || seam >= len(parts) {
		return parts
	}
	before, plain := plainText(parts[seam-1])
	after, alsoPlain := plainText(parts[seam])
	if !plain || !alsoPlain {
		return parts
	}
	parts[seam-1] = a2a.NewTextPart(before + after)
	return append(parts[:seam], parts[seam+1:]...)
}

// plainText gives the text of a part that is nothing but text.
func plainText(p *a2a.Part) (string, bool) {
	if p == nil || len(p.Metadata) > 0 || p.Filename != "" || p.MediaType != "" {
		return "", false
	}
	text, ok := p.Content.(a2a.Text)
	return string(text), ok
}
