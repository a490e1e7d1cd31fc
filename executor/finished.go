package executor

import (
	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/finished"
	"github.com/a2aexec/a2aexec/internal/plain"
	"github.com/a2aexec/a2aexec/stream"
)

// finished are the artifacts of what the run's flows have finished, each named
// after its node, as far as they fit.
func (e ending) finished() []agent.Artifact {
	var out []agent.Artifact
	for _, o := range e.work.Outputs {
		a := artifactOf(o)
		if !e.fits(outputSize(a)) {
			break
		}
		out = append(out, a)
	}
	return out
}

func artifactOf(o finished.Output) agent.Artifact {
	about := map[string]any{"node": o.Path + o.ID, "kind": o.Kind}
	if o.Number > 1 {
		about["visit"] = o.Number
	}
	about, _ = plain.Map(about)
	return agent.Artifact{Name: o.Path + o.ID, Parts: []stream.Part{o.Part}, Metadata: about}
}

// located adds to a failure how far the run's flow has come and how often its
// nodes were tried again, unless it says so itself.
func (r *run) located(f *errcode.Error) *errcode.Error {
	rep := r.work.Report()
	if rep.Retries > f.Retried() {
		f = f.With(errcode.Retried(rep.Retries))
	}
	if _, says := f.Flow(); says || rep.Flow == "" {
		return f
	}
	f = f.With(errcode.InFlow(rep.Flow, rep.Completed...))
	if _, says := f.Node(); says || rep.Node == "" {
		return f
	}
	return f.With(errcode.AtNode(rep.Node, rep.Kind))
}

// loseFinished notes what is lost of the outputs of nodes that become artifacts.
func (r *run) loseFinished() {
	for _, o := range r.work.Report().Outputs {
		r.lost.add(o.Part.Dropped())
	}
}
