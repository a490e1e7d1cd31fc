package executor

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
)

// fits refuses a message that is larger than [MaxInput] has it, naming each
// limit that it exceeds.
func (c *config) fits(req *a2a.SendMessageRequest) error {
	if req == nil || req.Message == nil {
		return nil
	}
	var faults []errcode.Violation
	if n := len(req.Message.Parts); c.maxParts > 0 && n > c.maxParts {
		faults = append(faults, tooLarge(int64(n), int64(c.maxParts), "parts"))
	}
	if c.maxInput > 0 {
		if n := sizeOfMessage(req); n > c.maxInput {
			faults = append(faults, tooLarge(n, c.maxInput, "bytes"))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	out := refuse(a2a.ErrInvalidParams, "The message is too large.")
	out.violations = faults
	return out
}

func tooLarge(got, limit int64, unit string) errcode.Violation {
	return errcode.Violation{
		Field:    "/message/parts",
		Expected: fmt.Sprintf("at most %d %s", limit, unit), Actual: fmt.Sprintf("%d %s", got, unit),
		Message: fmt.Sprintf("expected at most %d %s, got %d", limit, unit, got),
	}
}

// sizeOfMessage is about how many bytes a message holds, its metadata and the
// request's included: both go to the agent, and the first is kept.
func sizeOfMessage(req *a2a.SendMessageRequest) int64 {
	return sizeOfMap(req.Metadata) + sizeOfSaid(req.Message)
}

func sizeOfSaid(m *a2a.Message) int64 {
	if m == nil {
		return 0
	}
	return sizeOfMap(m.Metadata) + sizeOfParts(m.Parts)
}

func sizeOfArtifact(a *a2a.Artifact) int64 {
	if a == nil {
		return 0
	}
	return int64(len(a.Name)+len(a.Description)) + sizeOfMap(a.Metadata) + sizeOfParts(a.Parts)
}

func sizeOfParts(ps a2a.ContentParts) (n int64) {
	for _, p := range ps {
		if p != nil {
			n += int64(len(p.Filename)+len(p.MediaType)) + sizeOfMap(p.Metadata) + sizeOfContent(p)
		}
	}
	return n
}

func sizeOfContent(p *a2a.Part) int64 {
	switch v := p.Content.(type) {
	case a2a.Text:
		return int64(len(v))
	case a2a.Raw:
		return int64(len(v))
	case a2a.URL:
		return int64(len(v))
	case a2a.Data:
		return sizeOfValue(v.Value)
	default:
		return 0
	}
}

// costOfValue is about how many bytes a JSON value takes beside its text, in
// memory and in the time of those who copy it: three bytes of a request can make
// a hundred.
const costOfValue = 64

// sizeOfValue is about how many bytes a JSON value takes.
func sizeOfValue(v any) int64 {
	n := int64(costOfValue)
	switch v := v.(type) {
	case string:
		n += int64(len(v))
	case map[string]any:
		n += sizeOfMap(v)
	case []any:
		for _, e := range v {
			n += sizeOfValue(e)
		}
	}
	return n
}

func sizeOfMap(m map[string]any) (n int64) {
	for k, e := range m {
		n += int64(len(k)) + sizeOfValue(e)
	}
	return n
}

// affordable reports whether a request of so many JSON values may be decoded:
// more are sure to be more than [MaxInput]. The protocol's own are not counted
// there.
func (c *config) affordable(values int) bool {
	const ofProtocol = 100_000
	return c.maxInput == 0 || int64(max(0, values-ofProtocol)) <= c.maxInput/costOfValue
}

func (c *config) tooManyValues(field string) *protocolError {
	out := refuse(a2a.ErrInvalidParams, "The message is too large.")
	out.violations = []errcode.Violation{{Field: field, Message: fmt.Sprintf("has too many values for a message of at most %d bytes", c.maxInput)}}
	return out
}
