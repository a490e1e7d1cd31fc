package executor

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// inputs is a decorator that lets only messages in that the host can keep: of
// plain JSON values, for it copies by encoding/gob, and no larger than
// [MaxInput]. What comes by a binding is plain; a caller within the process may
// put any Go value into a message.
type inputs struct {
	a2asrv.RequestHandler
	*config
}

// SendMessage implements a2asrv.RequestHandler.
func (c inputs) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	req, err := c.take(req)
	if err != nil {
		return nil, err
	}
	return c.RequestHandler.SendMessage(ctx, req)
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (c inputs) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	req, err := c.take(req)
	if err != nil {
		return func(yield func(a2a.Event, error) bool) { yield(nil, err) }
	}
	return c.RequestHandler.SendStreamingMessage(ctx, req)
}

// take gives the message to go on with: the same, or one made plain.
func (c inputs) take(req *a2a.SendMessageRequest) (*a2a.SendMessageRequest, error) {
	if req == nil || req.Message == nil {
		return req, nil
	}
	var p plainly
	out := p.request(req)
	if len(p.faults) > 0 {
		refused := refuse(a2a.ErrInvalidParams, "")
		refused.violations = p.faults
		return nil, refused
	}
	return out, c.fits(out)
}

// plainly makes a request plain. It copies what it changes, and nothing else.
type plainly struct{ faults []errcode.Violation }

func (p *plainly) request(req *a2a.SendMessageRequest) *a2a.SendMessageRequest {
	out, msg := *req, *req.Message
	out.Message = &msg
	out.Metadata = p.object("/metadata", req.Metadata)
	msg.Metadata = p.object("/message/metadata", msg.Metadata)
	msg.Parts = nil
	for i, part := range req.Message.Parts {
		msg.Parts = append(msg.Parts, p.part(fmt.Sprintf("/message/parts/%d", i), part))
	}
	return &out
}

func (p *plainly) part(at string, part *a2a.Part) *a2a.Part {
	if part == nil {
		return nil
	}
	out := *part
	out.Metadata = p.object(at+"/metadata", part.Metadata)
	out.Filename, out.MediaType = validText(part.Filename), validText(part.MediaType)
	switch v := part.Content.(type) {
	case a2a.Text:
		out.Content = a2a.Text(validText(string(v)))
	case a2a.URL:
		out.Content = a2a.URL(validText(string(v)))
	case a2a.Data:
		out.Content = a2a.Data{Value: p.value(at+"/data", v.Value)}
	}
	return &out
}

func (p *plainly) object(at string, m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := p.value(at, m).(map[string]any)
	return out
}

func (p *plainly) value(at string, v any) any {
	budget := maxValues
	if isPlain(v, 0, &budget) {
		return v
	}
	out, dropped := plain.Value(v)
	for _, d := range dropped {
		field, why, _ := strings.Cut(d, ": ")
		p.faults = append(p.faults, errcode.Violation{Field: at + field, Message: "expected a JSON value: " + why})
	}
	return out
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// maxValues bounds what is taken as it is: more than a request of reasonable size
// can have.
const maxValues = 1 << 24

// isPlain reports whether v is what decoding JSON gives. The bounds are for
// values that contain themselves.
func isPlain(v any, depth int, budget *int) bool {
	if *budget--; *budget < 0 || depth > plain.MaxDepth {
		return false
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		return utf8.ValidString(v)
	case []any:
		for _, e := range v {
			if !isPlain(e, depth+1, budget) {
				return false
			}
		}
		return v != nil
	case map[string]any:
		for k, e := range v {
			if !utf8.ValidString(k) || !isPlain(e, depth+1, budget) {
				return false
			}
		}
		return v != nil
	default:
		return false
	}
}
