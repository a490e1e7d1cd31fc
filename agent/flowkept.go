package agent

import (
	"context"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/flow"
	"github.com/a2aexec/a2aexec/internal/errtree"
	"github.com/a2aexec/a2aexec/stream"
)

// keptOf are the artifacts of a run that failed: its own, then those of the
// nested run in which it failed.
func keptOf(outputs []flow.Output, err error) []Artifact {
	kept := artifactsOf("", outputs)
	e, ok := errtree.As[*flow.NodeError](err)
	if !ok {
		return kept
	}
	for path := e.Node + "/"; e.Inner() != nil; path += e.Node + "/" {
		e = e.Inner()
		kept = append(kept, artifactsOf(path, e.Outputs)...)
	}
	return kept
}

// artifactsOf makes each output an artifact, named after its node.
func artifactsOf(path string, outputs []flow.Output) []Artifact {
	var out []Artifact
	for _, o := range outputs {
		if o.NoArtifact {
			continue
		}
		about := map[string]any{"node": path + o.Node, "kind": o.Kind}
		if o.Visit > 1 {
			about["visit"] = o.Visit
		}
		out = append(out, Artifact{Name: path + o.Node, Parts: []stream.Part{partOf(o.Value)}, Metadata: about})
	}
	return out
}

func partOf(v any) stream.Part {
	switch v := v.(type) {
	case string:
		return stream.TextPart(v)
	case []byte:
		return stream.FilePart(stream.File{Bytes: v})
	case stream.File:
		return stream.FilePart(v)
	case *stream.File:
		if v != nil {
			return stream.FilePart(*v)
		}
	}
	return stream.DataPart(v)
}

// failureOf classifies a flow's error with the server's table, to add how often
// its nodes were retried.
func failureOf(ctx context.Context, err error, retries int) error {
	if retries == 0 {
		return err
	}
	e := errcode.TableFrom(ctx).Convert(err)
	if retries <= e.Retried() {
		return err
	}
	return e.With(errcode.Retried(retries))
}

// unfinished makes the failure of a flow whose nodes have all completed, unless
// finish names another flow.
func (f *FlowRunner[S]) unfinished(ctx context.Context, got flow.Result[S], res *Result, err error) (*Result, error) {
	out := &Result{}
	if res != nil {
		*out = *res
	}
	out.Artifacts = append(artifactsOf("", got.Outputs()), out.Artifacts...)
	err = failureOf(ctx, err, got.Retries())
	e := errcode.TableFrom(ctx).Convert(err)
	if _, inFlow := e.Flow(); inFlow {
		return out, err
	}
	return out, e.With(errcode.InFlow(f.flow.Name(), got.Completed()...))
}
