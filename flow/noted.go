package flow

import (
	"context"

	"github.com/a2aexec/a2aexec/internal/finished"
)

// noted is where it is noted what the run finishes, for whoever ends it from
// outside; nil if nobody does.
func (s *session) noted(ctx context.Context) *finished.Run {
	n := s.cfg.nest
	switch {
	case n == nil:
		return finished.Begin(ctx, s.id, s.core.name)
	case n.f.s.store == nil:
		return nil
	default:
		return n.f.s.store.work.Nested(n.f.node, n.f.s.core.metas[n.f.node].id, n.call, s.core.name)
	}
}

// isNoted reports whether anybody looks at the run from outside.
func (t *trace) isNoted() bool { return t.store != nil && t.store.work != nil }

// visitOf describes a visit to them.
func (s *session) visitOf(node, visit int32, step int) finished.Visit {
	m := s.core.metas[node]
	return finished.Visit{Node: node, ID: m.id, Kind: m.kind, Number: int(visit), Step: step, Hidden: m.noArtifact}
}

func (s *session) noteStart(t *task) {
	if s.isNoted() {
		s.store.work.Start(s.visitOf(t.node, t.frame.number(), s.step))
	}
}

func (s *session) noteStop(t *task) {
	if s.isNoted() {
		s.store.work.Stop(t.node)
	}
}

// noteFinish calls methods of the output.
func (s *session) noteFinish(node, visit int32, step int, out any) {
	if s.isNoted() {
		s.store.work.Finish(s.visitOf(node, visit, step), out)
	}
}

func (s *session) noteRetries(n int) {
	if s.isNoted() {
		s.store.work.Retry(n)
	}
}

// noteFailure is the end of a run that failed at a node.
func (s *session) noteFailure(culprit int32) {
	if s.isNoted() {
		s.store.work.End(s.visitOf(culprit, s.begun(culprit), s.step))
	}
}

func (s *session) noteDeletion() {
	if s.isNoted() {
		s.store.work.Delete()
	}
}

func (s *session) notePause() {
	if s.isNoted() {
		s.store.work.End()
	}
}
