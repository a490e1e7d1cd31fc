package agent_test

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
)

func message(parts ...*a2a.Part) *a2a.Message {
	return &a2a.Message{ID: "m1", Role: a2a.MessageRoleUser, Parts: parts}
}

func requestOf(parts ...*a2a.Part) *agent.Request {
	return agent.NewRequest(agent.RequestInfo{Message: message(parts...)})
}

func said(id string, role a2a.MessageRole, text string) *a2a.Message {
	return &a2a.Message{ID: id, Role: role, Parts: a2a.ContentParts{a2a.NewTextPart(text)}}
}

func texts(ms []*a2a.Message) []string {
	out := []string{}
	for _, m := range ms {
		if m == nil {
			out = append(out, "nil")
			continue
		}
		for _, p := range m.Parts {
			out = append(out, p.Text())
		}
	}
	return out
}
