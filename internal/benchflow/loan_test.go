package benchflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// bank stands for the services that the loan example calls, written with plain
// functions and as a flow.
type bank struct {
	down  bool     // the search does not answer
	calls []string // what was called, in order
}

var errDown = errors.New("connection refused")

func (b *bank) subject(_ context.Context, id string) (string, error) {
	b.calls = append(b.calls, "subject")
	return "loan " + id, nil
}

func (b *bank) terms(_ context.Context, subject string) ([]string, error) {
	b.calls = append(b.calls, "terms")
	if b.down {
		return nil, errDown
	}
	return []string{"terms of " + subject}, nil
}

func (b *bank) reply(_ context.Context, subject string, terms []string) (string, error) {
	b.calls = append(b.calls, "reply")
	return fmt.Sprintf("%s: found %s", subject, strings.Join(terms, ", ")), nil
}
