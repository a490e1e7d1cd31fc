package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// A question of an MCP server (elicitation) to a call becomes one to the user: the
// task is parked, and after the answer the call is made again and answered with
// it. A question by URL is one for credentials.

// calling is the call that a question belongs to.
type calling struct {
	tool  string
	args  json.RawMessage
	asked *numbers // how often each question was asked
}

type callingKey struct{}

// elicit answers a question that a server asks by a request of its own. Servers of
// older protocols ask so, outside of any call; nobody can be asked there.
func (s *Server) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return s.answer(ctx, req.Params)
}

// answer answers a question of the server from what the user said, or asks. One that
// is asked again in the same call has an answer of its own: the first was not enough.
func (s *Server) answer(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	asker, ok := hitl.AskerFrom(ctx)
	c, called := ctx.Value(callingKey{}).(calling)
	if !called {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	schema, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return nil, err
	}
	key := s.questionKey(c, p, schema)
	n := c.asked.next(key)
	switch {
	case !ok && n > 1:
		return nil, errors.New("the server asks again what nobody can answer")
	case !ok:
		return &mcp.ElicitResult{Action: "cancel"}, nil
	case n > 1:
		key += fmt.Sprint("#", n)
	}
	id, answer, answered, err := asker.Answer(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("look up answer to %s: %w", s.name, err)
	}
	if !answered {
		return nil, s.question(id, p, "")
	}
	if p.URL != "" {
		return &mcp.ElicitResult{Action: actionOf(answer, "accept")}, nil
	}
	res, fault := readAnswer(answer, schema)
	if fault != "" {
		return nil, s.question(id, p, fault)
	}
	return res, nil
}

// errDeclined is for the model.
var errDeclined = ErrorResult("The user declined to sign in.")

// signIn makes a question of the error with which a server says that the user has
// to visit an address first, nil of any other. The call is made again after that.
func (s *Server) signIn(ctx context.Context, err error) error {
	asker, canAsk := hitl.AskerFrom(ctx)
	c, called := ctx.Value(callingKey{}).(calling)
	if !canAsk || !called {
		return nil
	}
	var question error
	for _, p := range addressesIn(err) {
		same := *p
		same.URL = "" // it may be another each time
		id, answer, answered, err := asker.Answer(ctx, s.questionKey(c, &same, nil))
		switch {
		case err != nil:
			return fmt.Errorf("look up answer to %s: %w", s.name, err)
		case answered && actionOf(answer, "") != "":
			return errDeclined
		case !answered:
			return s.question(id, p, "")
		case question == nil:
			question = s.question(id, p, "") // the server says that it was not enough
		}
	}
	return question
}

// addressesIn are those that an error says the user has to visit.
func addressesIn(err error) []*mcp.ElicitParams {
	e, ok := errtree.As[*jsonrpc.Error](err)
	if !ok || e.Code != mcp.CodeURLElicitationRequired {
		return nil
	}
	var required struct{ Elicitations []*mcp.ElicitParams }
	_ = json.Unmarshal(e.Data, &required) // what is nothing else has none
	return slices.DeleteFunc(required.Elicitations, func(p *mcp.ElicitParams) bool { return p == nil || p.URL == "" })
}

// questionKey is the same for the same question of the same call, so that a consent
// to one call is none to another.
func (s *Server) questionKey(c calling, p *mcp.ElicitParams, schema []byte) string {
	h := sha256.New()
	for _, part := range []string{c.tool, string(c.args), p.Message, p.URL, string(schema)} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("mcp:%s/%s/%x", s.name, c.tool, h.Sum(nil)[:8])
}

func (s *Server) question(id string, p *mcp.ElicitParams, fault string) *hitl.Interrupt {
	opts := []hitl.Option{hitl.ID(id)}
	switch {
	case p.URL != "":
		opts = append(opts, hitl.AuthURL(p.URL), hitl.AuthProvider(s.name))
	case fault != "":
		opts = append(opts, hitl.Payload(map[string]any{
			"schema":     p.RequestedSchema,
			"violations": []any{map[string]any{"field": "", "expected": "an answer that fits the schema", "message": fault}},
		}))
	default:
		opts = append(opts, hitl.Payload(map[string]any{"schema": p.RequestedSchema}))
	}
	return hitl.InputRequired(p.Message, opts...)
}

// readAnswer makes the user's answer fit the schema, or says why it does not.
func readAnswer(answer any, schema json.RawMessage) (*mcp.ElicitResult, string) {
	if action := actionOf(answer, ""); action != "" {
		return &mcp.ElicitResult{Action: action}, ""
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, "The answer is no JSON."
	}
	text, isText := asText(raw)
	if isText {
		raw = fromText(text, schema)
	}
	if string(schema) == "null" {
		schema = nil
	}
	c, err := newChecker(schema)
	if err != nil {
		c = checker{} // for the server to judge
	}
	raw = orEmptyObject(raw)
	fault := c.check(raw)
	if fault != "" {
		return nil, fault
	}
	res := &mcp.ElicitResult{Action: "accept"}
	if err := json.Unmarshal(raw, &res.Content); err != nil {
		return nil, "The answer is no JSON object."
	}
	addDefaults(&res.Content, schema)
	return res, ""
}

// addDefaults gives members that were left out the values that the schema has for them.
func addDefaults(content *map[string]any, schema json.RawMessage) {
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return
	}
	if r, err := s.Resolve(nil); err == nil {
		_ = r.ApplyDefaults(content) // a default that does not fit is the server's concern
	}
}

// actionOf reads an answer that is an action and nothing else.
func actionOf(answer any, otherwise string) string {
	if raw, ok := answer.(json.RawMessage); ok {
		answer = nil
		_ = json.Unmarshal(raw, &answer)
	}
	if s, ok := answer.(string); ok {
		_ = json.Unmarshal([]byte(s), &answer)
	}
	if m, ok := answer.(map[string]any); ok && len(m) == 1 && (m["action"] == "decline" || m["action"] == "cancel") {
		action, _ := m["action"].(string)
		return action
	}
	return otherwise
}

func asText(raw json.RawMessage) (text string, ok bool) {
	return text, json.Unmarshal(raw, &text) == nil
}

// fromText makes an object of an answer in words: one that is written out, or the
// value of the only member that is asked for.
func fromText(text string, schema json.RawMessage) json.RawMessage {
	var written map[string]any
	if json.Unmarshal([]byte(text), &written) == nil {
		return json.RawMessage(text)
	}
	var asked struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &asked) != nil || len(asked.Properties) != 1 {
		return emptyObject
	}
	name := slices.Collect(maps.Keys(asked.Properties))[0]
	var value any = text
	if asked.Properties[name].Type != "string" && json.Unmarshal([]byte(text), &value) != nil {
		value = text
	}
	raw, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return emptyObject
	}
	return raw
}
