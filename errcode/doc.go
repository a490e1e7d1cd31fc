// Package errcode says what went wrong in an agent, to programs and to people.
//
// User code fails as Go code does, by returning an error. A [Table] gives every error one of eight
// codes, which clients branch on; an [Error] is that code with a reason, a message and whatever
// else helps; a [Builder] makes of it the [Data] that is sent in the failed task; and [FromTask]
// turns what was received into an [Error] again, so that [Is] works across the network.
//
// # In two minutes
//
// Most code needs nothing from this package. A timeout, a refused connection, a gRPC status, the
// HTTP status in the error of an SDK, an SQLSTATE, a failed validation and many more have their
// code already; docs/errcode-table.md lists them:
//
//	resp, err := client.Do(req)
//	if err != nil {
//		return fmt.Errorf("look up account: %w", err) // UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE, …
//	}
//
// Where the author knows better, [New] says it. The message is public, the cause is private:
//
//	return errcode.New(errcode.RateLimited, "classifier_quota_exceeded",
//		errcode.Message("The daily quota of the classifier is used up."),
//		errcode.RetryAfter(time.Minute),
//		errcode.Cause(err))
//
// Errors that the table does not know, or not well enough, get a rule, by identity, by type or by
// a function. Rules come before the defaults:
//
//	table := errcode.NewTable(
//		errcode.OnError(ledger.ErrLocked, errcode.UpstreamUnavailable, "ledger_locked"),
//		errcode.OnType[*ledger.LimitError](errcode.RateLimited, ""),
//		errcode.When("out of office", outOfOffice, errcode.UpstreamUnavailable, "branch_closed"))
//
// And a client asks:
//
//	if e, failed := errcode.FromTask(task); failed && e.Retriable() { … }
//
// # The named errors
//
// Types such as [ComponentInvokeError], [HTTPStatusError] or [MissingFieldError] are for code that
// wants to say precisely what happened without choosing a code. [ComponentInvokeError] and
// [ComponentLoadError] only tell where: the cause decides if it says more.
//
// # What crosses the wire
//
// The fields of [Data] and nothing else: the code, the reason, the message and the optional data an
// author attached. Never the cause of an [Error], never the value or the stack of a panic. An
// error that is not an [Error] is sent with its own text, since that is what people expect to
// read, after [Redact] has masked credentials in it; Builder.HideInternal withholds the text of
// every error that nobody classified. Strings in details and violations are masked as well, and so
// is any value whose name tells of a secret. The log gets everything through [Error.LogValue]; a
// correlation id joins the two.
//
// Nothing a user's error does can break the answer: cycles, panicking methods, values without a
// JSON form and invalid fields end in a smaller or in a generic description, never in none.
package errcode
