package hitl_test

import (
	"errors"
	"fmt"

	"github.com/a2aexec/a2aexec/hitl"
)

func birthday(answer string) (string, error) {
	if answer == "" {
		return "", hitl.InputRequired("What is your date of birth?",
			hitl.Payload(map[string]any{"format": "YYYY-MM-DD"}))
	}
	return answer, nil
}

func ExampleInputRequired() {
	_, err := birthday("")
	err = fmt.Errorf("check age: %w", err) // may be wrapped on its way out

	if ask := hitl.Find(err); ask != nil {
		fmt.Println(ask.Prompt())
		fmt.Println(ask.Data())
	}
	// Output:
	// What is your date of birth?
	// map[format:YYYY-MM-DD question:What is your date of birth?]
}

func ExampleFind() {
	ask := hitl.InputRequired("Which account?")
	failure := errors.New("the bank is closed")

	fmt.Println(hitl.Find(fmt.Errorf("transfer: %w", ask)))
	fmt.Println(hitl.Find(errors.Join(ask, failure)) == nil) // a failure is a failure
	// Output:
	// input required: Which account?
	// true
}
