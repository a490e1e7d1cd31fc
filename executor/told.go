package executor

import (
	"bytes"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// How the status of a task is told outside of the host: in the store, to
// clients, and to receivers of push notifications.

// told gives the status as it is told: see park.go for the state; the time is in
// UTC and in milliseconds (A2A v1.0 section 5.6.1), in the store too, so that a
// filter by time agrees with what clients see.
func told(s a2a.TaskStatus) a2a.TaskStatus {
	s.State, s.Timestamp = authState(s), inMillis(s.Timestamp)
	return s
}

func inMillis(t *time.Time) *time.Time {
	if t == nil || t.Location() == time.UTC && t.Nanosecond()%int(time.Millisecond) == 0 {
		return t
	}
	whole := t.UTC().Truncate(time.Millisecond)
	return &whole
}

// toldEvent gives the event as clients see it. Events are shared between
// readers: what changes is a copy.
func toldEvent(ev a2a.Event) a2a.Event {
	switch e := ev.(type) {
	case *a2a.Task:
		if e == nil {
			return ev
		}
		if s := told(e.Status); s != e.Status {
			c := *e
			c.Status = s
			return &c
		}
	case *a2a.TaskStatusUpdateEvent:
		if s := told(e.Status); s != e.Status {
			c := *e
			c.Status = s
			return &c
		}
	}
	return ev
}

// threeDigits writes the times of statuses in an answer with all three digits of
// their milliseconds, of which encoding/json leaves out those that are zero at
// the end. It looks at nothing that is the agent's or the client's own.
func threeDigits(answer []byte) []byte {
	if !bytes.Contains(answer, timestampMember) {
		return answer
	}
	data := bytes.TrimPrefix(answer, eventData)
	w := statusTimes{b: data}
	w.value(false)
	if len(w.short) == 0 {
		return answer
	}
	out := make([]byte, 0, len(answer)+len(".000")*len(w.short))
	out = append(out, answer[:len(answer)-len(data)]...)
	last := 0
	for _, t := range w.short {
		out = append(append(out, data[last:t.end]...), t.digits...)
		last = t.end
	}
	return append(out, data[last:]...)
}

var timestampMember = []byte(`"timestamp":"`)

// missing are the digits that a time lacks, which is in UTC and without its last
// letter, Z.
func missing(t []byte) string {
	point := bytes.LastIndexByte(t, '.')
	if point < 0 {
		return ".000"
	}
	return "000"[min(3, len(t)-point-1):]
}

// statusTimes walks through JSON, and notes which times of statuses are short.
// Only members by names of the protocol lead to one.
type statusTimes struct {
	b     []byte
	i     int
	short []shortTime
}

// shortTime is where the Z of a time stands, and what is to stand before it.
type shortTime struct {
	end    int
	digits string
}

func (w *statusTimes) next() byte {
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ' ', '\n', '\t', '\r', ',', ':':
			w.i++
		default:
			return c
		}
	}
	return 0
}

func (w *statusTimes) value(status bool) {
	switch w.next() {
	case '{':
		w.i++
		for w.next() == '"' {
			w.member(string(w.text()), status)
		}
		w.i++
	case '[':
		w.i++
		for c := w.next(); c != ']' && c != 0; c = w.next() {
			w.value(false)
		}
		w.i++
	default:
		w.skip()
	}
}

func (w *statusTimes) member(name string, ofStatus bool) {
	switch name {
	case "result", "task", "tasks", "statusUpdate":
		w.value(false)
	case "status":
		w.value(true)
	case "timestamp":
		if c := w.next(); ofStatus && c == '"' {
			if t, isUTC := bytes.CutSuffix(w.text(), []byte("Z")); isUTC && missing(t) != "" {
				w.short = append(w.short, shortTime{w.i - len(`Z"`), missing(t)})
			}
			return
		}
		fallthrough
	default:
		w.skip()
	}
}

// text gives what stands between the quotes at hand.
func (w *statusTimes) text() []byte {
	from := w.i + 1
	for w.i = from; w.i < len(w.b); w.i++ {
		switch w.b[w.i] {
		case '\\':
			w.i++
		case '"':
			w.i++
			return w.b[from : w.i-1]
		}
	}
	return nil
}

// skip goes past a value.
func (w *statusTimes) skip() {
	depth := 0
	for {
		switch c := w.next(); c {
		case 0:
			return
		case '"':
			w.text()
		case '{', '[':
			depth++
			w.i++
		case '}', ']':
			depth--
			w.i++
		default:
			for w.i < len(w.b) && bytes.IndexByte(endOfWord, w.b[w.i]) < 0 {
				w.i++
			}
		}
		if depth <= 0 {
			return
		}
	}
}

var endOfWord = []byte(",:]} \n\t\r")
