package errcode

import (
	"slices"
	"strings"
	"time"
)

// Row is one line of a table, for documents and dashboards, see [Table.Rows].
type Row struct {
	// Name is the name of the rule or of the default row; several lines may share one.
	Name string
	// Errors says which errors the line is about.
	Errors string
	// Code is "" when the error carries its own code.
	Code Code
	// Reason is "" when it is made of the name of the error's type.
	Reason    string
	Retriable bool
	// Source, Message and RetryAfter are what a rule sets, "" and 0 if it sets none. A delay that the
	// error itself tells is no part of the table.
	Source     string
	Message    string
	RetryAfter time.Duration
	// Rule marks the rules of the user, which come first.
	Rule bool
	// Carrier marks errors that leave the decision to a cause that says more.
	Carrier bool
}

// Rows returns the table line by line in the order in which they are looked at: the rules, then
// the defaults, then what applies when nothing matches. The slice is the caller's.
func (t *Table) Rows() []Row {
	var rows []Row
	if t != nil {
		for i := range t.rules {
			rows = append(rows, t.rules[i].list())
		}
	}
	for i := range defaultRows {
		rows = append(rows, defaultRows[i].list()...)
	}
	return append(rows, Row{Name: "anything else", Errors: "any other error", Code: Internal})
}

func (r *Rule) list() Row {
	row := Row{Name: r.name, Errors: r.when, Rule: true}
	if r.made == nil {
		return row
	}
	c := r.class
	row.Code, row.Reason, row.Retriable, row.Source, row.Message = c.Code, c.Reason, c.Retriable, c.Source, r.made.message
	row.RetryAfter = c.RetryAfter
	return row
}

func (r *row) list() []Row {
	answers := r.answers
	if answers == nil {
		answers = []answer{{class: r.class}}
	}
	rows := make([]Row, len(answers))
	for i, a := range answers {
		rows[i] = Row{
			Name: r.name, Errors: strings.TrimSpace(r.subject() + " " + a.when), Carrier: r.carrier,
			Code: a.class.Code, Reason: a.class.Reason, Retriable: a.class.Retriable,
		}
	}
	return rows
}

// subject says which errors the row is about.
func (r *row) subject() string {
	if r.when != "" {
		return r.when
	}
	names := make([]string, 0, len(r.types))
	for _, t := range r.types {
		if n := t.String(); !slices.Contains(names, "*"+n) && !slices.Contains(names, strings.TrimPrefix(n, "*")) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}
