package errcode

import "time"

// Class is how an error was classified: everything a caller branches on, without the data a
// client is sent. [Table.Convert] makes the whole error.
type Class struct {
	// Code is one of the eight, "" only for a nil error.
	Code Code
	// Reason is not empty unless an application error has none.
	Reason    string
	Retriable bool
	// RetryAfter is meaningful only if HasRetryAfter is set; zero then means at once.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Source is where it happened, as system:locator, "" if unknown.
	Source string
}

// CodeOf returns the code of err by the default table: that of the [Error] inside, whoever made
// it, or what the table says about the error. It is "" for nil. A nil pointer in an error
// interface is [Internal].
func CodeOf(err error) Code { return Default().Classify(err).Code }

// Is reports whether err has the code by the default table. It is false for nil. It works on
// errors that came over the network, too, see [FromTask].
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// class is the class of an application error. A code that is not one of the eight counts as
// Internal, which is what will be sent.
func (e *Error) class() Class {
	c := Class{
		Code:          e.code,
		Reason:        e.reason,
		Retriable:     e.Retriable(),
		RetryAfter:    e.retryAfter,
		HasRetryAfter: e.hasRetryAfter,
		Source:        e.source,
	}
	if !c.Code.Valid() {
		c.Code, c.Retriable = Internal, false
	}
	return c
}
