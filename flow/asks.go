package flow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

var errKeyless = errors.New("a question in a flow needs a key: ask it with hitl.Ask")

// questions lists the questions a visit returned, each once. One without an id
// could never be answered.
func (s *session) questions(f *frame, err error) (asks []*hitl.Interrupt, bad error) {
	scope := s.id + "/" + f.key("")
	errtree.Walk(err, func(e error) bool {
		ask, ok := e.(*hitl.Interrupt) //nolint:errorlint // one node of a walk
		if !ok || bad != nil {
			return bad == nil
		}
		switch twin := find(asks, ask.ID()); {
		case ask.ID() == "":
			bad = errKeyless
		case !strings.HasPrefix(ask.ID(), scope):
			bad = fmt.Errorf("the question %q was not asked by this node", ask.ID())
		case twin == nil:
			asks = append(asks, ask)
		case twin.Prompt() != ask.Prompt():
			bad = fmt.Errorf("two questions have the same key: %q", ask.ID())
		}
		return bad == nil
	})
	if bad != nil {
		return nil, bad
	}
	return asks, nil
}

func find(asks []*hitl.Interrupt, id string) *hitl.Interrupt {
	for _, a := range asks {
		if a.ID() == id {
			return a
		}
	}
	return nil
}
