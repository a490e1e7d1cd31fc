package benchflow_test

import (
	"context"
	"fmt"
)

// plainLoan answers a question about a loan.
func plainLoan(ctx context.Context, b *bank, id string) (string, error) {
	subject, err := b.subject(ctx, id)
	if err != nil {
		return "", fmt.Errorf("fetch the subject: %w", err)
	}
	terms, err := b.terms(ctx, subject)
	if err != nil {
		return "", fmt.Errorf("search the terms: %w", err)
	}
	answer, err := b.reply(ctx, subject, terms)
	if err != nil {
		return "", fmt.Errorf("write the answer: %w", err)
	}
	return answer, nil
}

// Plain functions name the step that failed in the error's text. What was done
// before is gone, and is done again.
func Example_plain() {
	ctx, b := context.Background(), &bank{down: true}
	_, err := plainLoan(ctx, b, "4711")
	fmt.Println(err)

	b.down = false
	fmt.Println(plainLoan(ctx, b, "4711"))
	fmt.Println(b.calls)
	// Output:
	// search the terms: connection refused
	// loan 4711: found terms of loan 4711 <nil>
	// [subject terms subject terms reply]
}

// progress is what was done of a loan's answer; nil is what was not.
type progress struct {
	Subject *string
	Terms   *[]string
}

// keptLoan does not do again what is in p, and saves what it adds to it.
func keptLoan(ctx context.Context, b *bank, id string, p *progress, save func(*progress) error) (string, error) {
	if p.Subject == nil {
		subject, err := b.subject(ctx, id)
		if err != nil {
			return "", fmt.Errorf("fetch the subject: %w", err)
		}
		p.Subject = &subject
		if err := save(p); err != nil {
			return "", fmt.Errorf("save the subject: %w", err)
		}
	}
	if p.Terms == nil {
		terms, err := b.terms(ctx, *p.Subject)
		if err != nil {
			return "", fmt.Errorf("search the terms: %w", err)
		}
		p.Terms = &terms
		if err := save(p); err != nil {
			return "", fmt.Errorf("save the terms: %w", err)
		}
	}
	return b.reply(ctx, *p.Subject, *p.Terms)
}

// Plain functions can keep what was done, too, by hand.
func Example_plainKept() {
	ctx, b, p := context.Background(), &bank{down: true}, &progress{}
	save := func(*progress) error { return nil } // p itself outlives the failure
	_, err := keptLoan(ctx, b, "4711", p, save)
	fmt.Println(err)

	b.down = false
	fmt.Println(keptLoan(ctx, b, "4711", p, save))
	fmt.Println(b.calls)
	// Output:
	// search the terms: connection refused
	// loan 4711: found terms of loan 4711 <nil>
	// [subject terms terms reply]
}
