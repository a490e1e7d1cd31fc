// Package retry calls a function again when its failure may pass, and only then.
//
//	account, err := retry.Do(ctx, func(ctx context.Context) (*Account, error) {
//		return bank.Lookup(ctx, id)
//	})
//
// The table in ctx ([errcode.TableFrom]) decides what may pass: a refused connection, a timeout, a
// rate limit. Between attempts [Do] waits
//
//	delay = initial delay × 2^(attempt−1)
//
// with jitter and a cap (BLUEPRINT 9.5). A delay that a server asked for wins over the computed one
// and is waited out in full: neither the cap nor the jitter touches it. When a delay fits neither
// the budget nor the deadline of ctx, Do gives up at once instead of waiting in vain.
//
// # Never retried
//
//   - errors that are not retriable by the table or by their author's word;
//   - INVALID_INPUT, AUTH_REQUIRED and GUARDRAIL_BLOCKED, even if the author calls them retriable
//     ([errcode.Code.Never]): like the BLUEPRINT rows VALIDATION_ERROR, AUTH_REQUIRED,
//     PERMISSION_DENIED and VERSION_INCOMPATIBLE they need somebody to change something first;
//   - anything once ctx is done;
//   - questions to the user (package hitl), which are no failures and are passed on untouched;
//   - panics, which are contained and returned as an [errcode.PanicError].
//
// # Why not backoff.Retry
//
// The schedule is that of cenkalti/backoff, the loop is not. Its loop applies errors.As to user
// errors, which never returns for a cyclic one; starts the schedule anew after a server's delay;
// drops the last error when ctx is done; and knows neither deadlines nor a clock for tests.
package retry
