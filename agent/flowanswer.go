package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// isOf reports whether a question is one of the run's nodes: their ids begin
// with the run's.
func isOf(run string, q Question) bool {
	id, _ := q.Data["id"].(string)
	return strings.HasPrefix(id, run+"/")
}

// answersOf reads the answers to a run's open questions out of a message, by
// their ids, and lists what is wrong with them. There is none if the message
// answers somebody else's question.
func answersOf(run string, q Question, req *Request, open []*hitl.Interrupt) (answers map[string]any, wrong []any) {
	if len(open) == 0 || !isOf(run, q) {
		return nil, nil
	}
	isOpen := func(id string) bool {
		return slices.ContainsFunc(open, func(i *hitl.Interrupt) bool { return i.ID() == id })
	}
	id, _ := q.Data["id"].(string)
	if !isOpen(id) {
		return nil, nil // the answer was taken in already
	}
	data := req.Data()
	if len(data) == 0 {
		return map[string]any{id: req.Text()}, nil
	}
	answers, named := namedAnswers(data[0])
	if _, hit := answers[id]; !named || len(open) == 1 && !hit {
		return map[string]any{id: data[0]}, nil
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		if !isOpen(key) {
			wrong = append(wrong, violation(plain.Pointer([]string{"answers", key}), "the id of an open question", "No open question has this id."))
		}
	}
	if len(answers) == 0 {
		wrong = append(wrong, violation("/answers", "an answer to an open question", "Nothing is answered."))
	}
	return answers, wrong
}

// namedAnswers takes apart data of the form {"answers": {ID: value}}.
func namedAnswers(data any) (answers map[string]any, ok bool) {
	m, _ := data.(map[string]any)
	if len(m) != 1 {
		return nil, false
	}
	answers, ok = m["answers"].(map[string]any)
	return answers, ok
}

func violation(field, expected, message string) any {
	return map[string]any{"field": field, "expected": expected, "message": message}
}

// askAgain asks open questions again, since an answer to them was wrong.
func askAgain(open []*hitl.Interrupt, wrong []any) error {
	again := slices.Clone(open)
	data := open[0].Data()
	data["violations"] = wrong
	opts := []hitl.Option{hitl.Payload(data), hitl.ID(open[0].ID()), hitl.Memo(open[0].Memo())}
	if open[0].Auth() {
		opts = append(opts, hitl.Auth(""))
	}
	again[0] = hitl.InputRequired(open[0].Prompt(), opts...)
	return allOf(again)
}
