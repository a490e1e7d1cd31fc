package flow

import (
	"bytes"
	"encoding/json"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// storedFailure is a tolerated failure in a checkpoint: what the run's table
// made of it, so that its class outlives the error.
type storedFailure struct {
	Text    string       `json:"text"`
	Class   errcode.Data `json:"class"`
	Step    int          `json:"step"`
	Attempt int          `json:"attempt"`
}

// keepFailure makes the text of a failure for checkpoints.
func (s *session) keepFailure(err error, tries int32) []byte {
	class, _ := errcode.Builder{}.Data(errcode.TableFrom(s.base.run).Convert(err)) // the best that can be made of it
	data, _ := json.Marshal(storedFailure{Text: errtree.Text(err), Class: class, Step: s.step, Attempt: int(tries)})
	return data
}

// err is the failure again: its class and its text.
func (f *storedFailure) err() error {
	return &severalError{text: f.Text, errs: []error{f.Class.Err()}}
}

// storedAsk is an open question in a checkpoint.
type storedAsk struct {
	ID     string         `json:"id"`
	Prompt string         `json:"prompt"`
	Data   exactMap       `json:"data"`
	Auth   bool           `json:"auth"`
	Memo   map[string]any `json:"memo"`
}

// exactMap keeps numbers as they were written: a float64 would round large ones.
type exactMap map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (m *exactMap) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode((*map[string]any)(m))
}

// interrupt is the question again.
func (a *storedAsk) interrupt() *hitl.Interrupt {
	opts := []hitl.Option{hitl.Payload(map[string]any(a.Data)), hitl.ID(a.ID), hitl.Memo(a.Memo)}
	if a.Auth {
		opts = append(opts, hitl.Auth(""))
	}
	return hitl.InputRequired(a.Prompt, opts...)
}

func (w *writer) ask(a *hitl.Interrupt) {
	w.text(`{"id":`, a.ID())
	w.text(`,"prompt":`, a.Prompt())
	w.flag(`,"auth":true`, a.Auth())
	w.json(`,"data":`, a.Data())
	if memo := a.Memo(); memo != nil {
		w.json(`,"memo":`, memo)
	}
	w.buf = append(w.buf, '}')
}
