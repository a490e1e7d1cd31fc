package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// The failures of this package's own, before they are told where they happened.
var (
	errStreamEnded = errcode.New(errcode.UpstreamUnavailable, "remote_stream_ended",
		errcode.Message("The agent stopped answering without a word about how its task ended."))
	errCanceled = errcode.New(errcode.UpstreamUnavailable, "remote_task_canceled", errcode.Retriable(false),
		errcode.Message("The agent's task was cancelled by somebody else."))
	errBusy = errcode.New(errcode.UpstreamUnavailable, "remote_busy",
		errcode.Message("The agent still works on an earlier message."))
	errTimeout = errcode.New(errcode.UpstreamTimeout, "remote_timeout", errcode.Message("The agent took too long."))
)

// fail makes err the failure of the call, at the remote.
func (c *call) fail(err error) error {
	return c.table.Convert(err).With(errcode.Via(c.Source()))
}

// stopped is the failure of a call whose caller is at an end.
func (c *call) stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	e := c.table.Convert(&stoppedError{cause, ctx.Err()}).With(errcode.Via(c.Source()))
	if cause == error(errTimeout) && !c.delivery.unsent(nil) { //nolint:errorlint // our own sentinel
		return unknown(e)
	}
	return e
}

type stoppedError struct{ cause, err error }

func (e *stoppedError) Error() string { return "call of an agent stopped: " + errtree.Text(e.cause) }

func (e *stoppedError) Unwrap() []error { return []error{e.cause, e.err} }

// broken makes the failure of a call whose remote did not say all it had to.
// cause is why the lifeline ended, if it did.
func (c *call) broken(err, cause error, n *notes) *errcode.Error {
	e := diagnose(c.table, err, cause, n)
	return e.With(errcode.Via(c.Source()))
}

func diagnose(table *errcode.Table, err, cause error, n *notes) *errcode.Error {
	status, header, rpc := n.last()
	var event *eventError
	said := speaksA2A(err)
	switch {
	case cause == error(errIdle): //nolint:errorlint // our own sentinel
		return errIdle.With(errcode.Cause(err))
	case isBusy(err):
		return errBusy.With(errcode.Cause(err))
	case isTooLarge(err):
		return lasting("remote_answer_too_large", "The agent's answer is too large.", err)
	case errors.Is(err, errCard):
		return lasting("remote_card_invalid", "The agent's card cannot be used.", err)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return lasting("remote_redirected", "The agent answers with a redirect, which is not followed.", err)
	case errors.As(err, &event):
		return lasting("remote_answer_invalid", "The agent's answer cannot be understood.", err)
	case status >= http.StatusBadRequest:
		return httpFailure(table, err, said, &errcode.HTTPStatusError{StatusCode: status, Header: header, Err: err})
	}
	e := table.Convert(err)
	switch {
	case rpc != nil && e.Code() == errcode.Internal:
		return table.Convert(rpc)
	case e.Code() == errcode.Internal && !said:
		return lasting("remote_answer_invalid", "The agent's answer cannot be understood.", err)
	}
	return e
}

// httpFailure weighs what a body said against the status it came with, which
// says more where the body only says that there is an error.
func httpFailure(table *errcode.Table, err error, said bool, at *errcode.HTTPStatusError) *errcode.Error {
	byStatus := table.Convert(at).With(errcode.Message(
		fmt.Sprintf("The agent answered HTTP %d %s.", at.StatusCode, http.StatusText(at.StatusCode))))
	if !said {
		return byStatus
	}
	byBody := table.Convert(err)
	if byBody.Code() == errcode.Internal && byStatus.Code() != errcode.Internal {
		return byStatus
	}
	if _, has := byBody.RetryAfter(); !has && (at.StatusCode == http.StatusTooManyRequests || at.StatusCode == http.StatusServiceUnavailable) {
		if d, ok := at.RetryAfter(time.Now()); ok {
			return byBody.With(errcode.RetryAfter(d))
		}
	}
	return byBody
}

// isBusy reports whether the remote refused a message, of which it has taken
// nothing, because it is not done with the one before. Agents on a2a-go show a
// question a moment before that; only the text tells.
func isBusy(err error) bool {
	return strings.Contains(errtree.Text(err), "task execution is already in progress")
}

// isTooLarge reports whether there was too much to read, at once or of an event.
func isTooLarge(err error) bool {
	return errors.Is(err, errTooLarge) || errors.Is(err, bufio.ErrTooLong)
}

// lasting is a failure that another try will not cure.
func lasting(reason, message string, cause error) *errcode.Error {
	return errcode.New(errcode.UpstreamUnavailable, reason, errcode.Retriable(false),
		errcode.Message(message), errcode.Cause(cause))
}

// verdictOf is what a failure says about the remote to the circuit breaker.
func verdictOf(e *errcode.Error) error {
	if e.Code() == errcode.UpstreamUnavailable || e.Code() == errcode.UpstreamTimeout {
		return e
	}
	return nil // it answers
}

func isOpen(err error) bool {
	var e *errcode.Error
	return errors.As(err, &e) && e.Reason() == reasonOpen
}
