package executor

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
)

// checkModes compares the media types of a message with those that the card
// lists (A2A v1.0 section 3.1.1): each part must be of one that the agent or a
// skill takes in, and of the output modes the client accepts at least one must
// be one that they give.
func (c *config) checkModes(req *a2a.SendMessageRequest) error {
	if !c.hasCard {
		return nil
	}
	input, output := c.modes()
	var found []errcode.Violation
	for i, p := range req.Message.Parts {
		if t := typeOfPart(p); t != "" && !slices.ContainsFunc(input, func(m string) bool { return covers(m, t) }) {
			found = append(found, errcode.Violation{
				Field:   fmt.Sprintf("/message/parts/%d", i),
				Message: fmt.Sprintf("the agent does not take %s; it takes %s", t, strings.Join(input, ", ")),
			})
		}
	}
	if accepted := outputModesOf(req); len(accepted) > 0 && !slices.ContainsFunc(accepted, func(a string) bool {
		return slices.ContainsFunc(output, func(m string) bool { return covers(a, m) || covers(m, a) })
	}) {
		found = append(found, errcode.Violation{
			Field:   "/configuration/acceptedOutputModes",
			Message: "the agent gives none of these; it gives " + strings.Join(output, ", "),
		})
	}
	if len(found) == 0 {
		return nil
	}
	out := refuse(a2a.ErrUnsupportedContentType, "")
	out.violations = found
	return out
}

// modes are those of the agent and of its skills.
func (c *config) modes() (input, output []string) {
	input, output = slices.Clone(c.inputModes), slices.Clone(c.outputModes)
	for _, s := range c.skills {
		input, output = append(input, s.InputModes...), append(output, s.OutputModes...)
	}
	return input, output
}

// typeOfPart is the media type of a part: what it says, or what its kind
// implies; a file without one could be anything.
func typeOfPart(p *a2a.Part) string {
	if p.MediaType != "" {
		return bare(p.MediaType)
	}
	switch p.Content.(type) {
	case a2a.Text:
		return "text/plain"
	case a2a.Data:
		return mediaJSON
	default:
		return ""
	}
}

// bare is a media type without parameters.
func bare(m string) string {
	if t, _, err := mime.ParseMediaType(m); err == nil {
		return t
	}
	return strings.ToLower(strings.TrimSpace(m))
}

// covers reports whether a range, such as image/* or */*, contains the type.
func covers(wide, mediaType string) bool {
	wide, mediaType = bare(wide), bare(mediaType)
	if wide == mediaType || wide == "*/*" || wide == "*" {
		return true
	}
	class, ok := strings.CutSuffix(wide, "/*")
	return ok && strings.HasPrefix(mediaType, class+"/")
}
