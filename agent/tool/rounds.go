package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Servers of newer protocols ask in the result of a call, which is then made again
// with the answers. The library would do so in goroutines of its own, ten times with
// the same answers, and also where nothing was asked.

// maxRounds is how often a server may ask in one call.
const maxRounds = 10

// converse makes the call, and again with the answers to what the server asks.
func (t *mcpTool) converse(ctx context.Context, session *mcp.ClientSession, args json.RawMessage) (*mcp.CallToolResult, error) {
	params := mcp.CallToolParams{Name: t.spec.Name, Arguments: args}
	for range maxRounds {
		res, err := once(ctx, session, params)
		if err != nil || !res.NeedsInput() && res.InputRequests == nil {
			return res, err
		}
		if params.InputResponses, err = t.server.answers(ctx, res.InputRequests); err != nil {
			return nil, err
		}
		params.RequestState = res.RequestState
	}
	return nil, fmt.Errorf("the server asked more than %d times", maxRounds)
}

// once makes the call. On some answers that are rubbish the library panics.
func once(ctx context.Context, session *mcp.ClientSession, params mcp.CallToolParams) (res *mcp.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the MCP library panicked: %v", v)
		}
	}()
	res, err = session.CallTool(ctx, &params)
	if err == nil && res == nil {
		err = errors.New("the server answered nothing")
	}
	return res, err
}

// answers gives what the server asks for.
func (s *Server) answers(ctx context.Context, asked mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	if len(asked) == 0 { // it has no time for the call now
		return nil, errors.New("the server put the call off")
	}
	given := mcp.InputResponseMap{}
	for _, id := range slices.Sorted(maps.Keys(asked)) {
		p, ok := asked[id].(*mcp.ElicitParams)
		if !ok || p == nil {
			return nil, fmt.Errorf("the server asks for what nobody offers: %T", asked[id])
		}
		res, err := s.answer(ctx, p)
		if err != nil {
			return nil, err
		}
		given[id] = res
	}
	return given, nil
}
