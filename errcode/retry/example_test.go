package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/retry"
)

func ExampleDo() {
	calls := 0
	lookup := func(context.Context) (string, error) {
		calls++
		if calls < 3 {
			return "", &errcode.HTTPStatusError{StatusCode: 503}
		}
		return "account 7", nil
	}
	got, err := retry.Do(context.Background(), lookup,
		retry.InitialDelay(time.Millisecond),
		retry.OnRetry(func(_ context.Context, a retry.Attempt) {
			fmt.Println("attempt", a.Number, "failed:", a.Class.Code)
		}))
	fmt.Println(got, err)
	// Output:
	// attempt 1 failed: UPSTREAM_UNAVAILABLE
	// attempt 2 failed: UPSTREAM_UNAVAILABLE
	// account 7 <nil>
}

// A server's delay that does not fit the budget is not waited for in vain.
func ExampleBudget() {
	busy := errcode.New(errcode.RateLimited, "quota_exceeded", errcode.RetryAfter(time.Hour))
	_, err := retry.Do(context.Background(), func(context.Context) (int, error) { return 0, busy },
		retry.Budget(time.Minute))
	fmt.Println(err)
	// Output:
	// RATE_LIMITED quota_exceeded: Too many requests; try again later.
}
