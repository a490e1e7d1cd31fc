package remote

// What is sent and what comes, from and to the types of package a2a.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/agent"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
	"github.com/a2aexec/a2aexec/stream"
)

// outgoing is a message on its way.
type outgoing struct {
	Message
	id, task, context string
}

func (m outgoing) message() *a2a.Message {
	out := &a2a.Message{
		ID: m.id, Role: a2a.MessageRoleUser, TaskID: a2a.TaskID(m.task), ContextID: m.context,
	}
	for _, p := range m.Parts {
		out.Parts = append(out.Parts, wirePart(p))
	}
	if len(out.Parts) == 0 {
		out.Parts = a2a.ContentParts{a2a.NewTextPart("")}
	}
	if len(m.Metadata) > 0 {
		out.Metadata, _ = plain.Map(m.Metadata)
	}
	return out
}

func newMessageID() string { return a2a.NewMessageID() }

func wirePart(p stream.Part) *a2a.Part {
	out := contentOf(p)
	out.Metadata = p.Metadata()
	return out
}

func contentOf(p stream.Part) *a2a.Part {
	switch f := p.File(); {
	case p.Kind() == stream.KindData:
		part := a2a.NewDataPart(p.Data())
		part.MediaType = "application/json"
		return part
	case p.Kind() == stream.KindText:
		return a2a.NewTextPart(p.Text())
	case f.URI != "":
		return &a2a.Part{Content: a2a.URL(f.URI), Filename: f.Name, MediaType: f.MediaType}
	default:
		return &a2a.Part{Content: a2a.Raw(f.Bytes), Filename: f.Name, MediaType: f.MediaType}
	}
}

// partsOf leaves out what is no content.
func partsOf(ps a2a.ContentParts) []stream.Part {
	out := make([]stream.Part, 0, len(ps))
	for _, p := range ps {
		if p == nil {
			continue
		}
		value, meta := p.Content, p.Metadata
		if len(meta) > 0 {
			value, meta = unwrapped(p)
		}
		var part stream.Part
		switch v := value.(type) {
		case a2a.Text:
			part = stream.TextPart(string(v))
		case a2a.Data:
			part = stream.DataPart(v.Value)
		case a2a.Raw:
			part = stream.FilePart(stream.File{Name: p.Filename, MediaType: p.MediaType, Bytes: v})
		case a2a.URL:
			part = stream.FilePart(stream.File{Name: p.Filename, MediaType: p.MediaType, URI: string(v)})
		default:
			continue
		}
		if len(meta) > 0 {
			part = part.WithMetadata(meta)
		}
		out = append(out, part)
	}
	return out
}

// wrapped marks data that is no object, where a binding carries objects only
// (gRPC, A2A 0.3): the value is the member "value" of one.
const wrapped = "data_part_compat"

// unwrapped gives what a part was before a binding wrapped it.
func unwrapped(p *a2a.Part) (a2a.PartContent, map[string]any) {
	if isWrapped, _ := p.Metadata[wrapped].(bool); !isWrapped {
		return p.Content, p.Metadata
	}
	meta := maps.Clone(p.Metadata)
	delete(meta, wrapped)
	if data, ok := p.Content.(a2a.Data); ok {
		if m, ok := data.Value.(map[string]any); ok && len(m) == 1 {
			if v, ok := m["value"]; ok {
				return a2a.Data{Value: v}, meta
			}
		}
	}
	return p.Content, meta
}

// fromRequest is the message of a request, as it came.
func fromRequest(req *agent.Request) Message {
	m := req.Message()
	return Message{Parts: partsOf(m.Parts), Metadata: m.Metadata}
}

// atFirst is what a call was sent in the run that began the task, where m only
// repeats what the request says: that was another thing then. It gives false
// where that run is this one, and for any other message.
func atFirst(req *agent.Request, m Message) (Message, bool) {
	if _, ok := req.Question(); !ok {
		return Message{}, false
	}
	first := agent.NewRequest(agent.RequestInfo{Message: req.Original()})
	switch fingerprint(m) {
	case fingerprint(Text(req.Text())):
		return Text(first.Text()), true
	case fingerprint(fromRequest(req)):
		return fromRequest(first), true
	}
	return Message{}, false
}

// fingerprint tells messages apart by their parts.
func fingerprint(m Message) string {
	raw, _ := json.Marshal(outgoing{Message: m}.message().Parts) // what cannot be sent is the same to all
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// answerPart is the part of a message that answers a question.
func answerPart(answer any) stream.Part {
	if raw, ok := answer.(json.RawMessage); ok {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			answer = v
		}
	}
	if text, ok := answer.(string); ok {
		return stream.TextPart(text)
	}
	return stream.DataPart(answer)
}

// event is what a remote agent says: a message, a status or artifacts of a task,
// or, of a snapshot, all of it.
type event struct {
	task, context string
	state         state
	status        said
	pieces        []piece
	whole         bool           // it is a snapshot
	failure       *errcode.Error // of a failed task, or of a message
}

// state is what a task's state means to a call.
type state int

const (
	working state = iota // also where nothing is said of it
	completed
	failed
	canceled
	rejected
	inputRequired
	authRequired
	answered // there is no task, but a message
)

// over reports whether the remote does nothing more by itself.
func (s state) over() bool { return s != working }

// parked reports whether the remote waits for an answer.
func (s state) parked() bool { return s == inputRequired || s == authRequired }

var states = map[a2a.TaskState]state{
	a2a.TaskStateSubmitted: working, a2a.TaskStateWorking: working, a2a.TaskStateCompleted: completed,
	a2a.TaskStateFailed: failed, a2a.TaskStateCanceled: canceled, a2a.TaskStateRejected: rejected,
	a2a.TaskStateInputRequired: inputRequired, a2a.TaskStateAuthRequired: authRequired,
}

// said is the content of a status message.
type said struct {
	id, text string
	data     any
	size     int // of all that the remote sent, in bytes
}

// piece is an artifact, or an update of one.
type piece struct {
	id, name, description string
	metadata              map[string]any
	parts                 []stream.Part
	more                  bool // appends to what came before
	whole                 bool // of a snapshot, which may be older than what came before
	last                  bool
}

// eventError says that the remote breaks the protocol.
type eventError struct {
	text  string
	cause error // nil for none
}

func (e *eventError) Error() string { return "the agent's answer breaks the protocol: " + e.text }

func (e *eventError) Unwrap() error { return e.cause }

// events gives what the A2A client reads. That panics on some rubbish; a panic of
// the reader's passes.
func events(in iter.Seq2[a2a.Event, error]) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		reads := false
		defer func() {
			if reads {
				return
			}
			if v := recover(); v != nil {
				yield(event{}, panicked(v))
			}
		}()
		for ev, err := range in {
			var out event
			if err == nil {
				out, err = eventOf(ev)
			}
			reads = true
			if !yield(out, err) || err != nil {
				return
			}
			reads = false
		}
	}
}

// contained calls the A2A client, which panics on some rubbish.
func contained[T any](call func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	return call()
}

func panicked(v any) error {
	return &eventError{"the A2A client could not read it", errcode.NewPanicError(v, debug.Stack())}
}

func eventOf(ev a2a.Event) (event, error) {
	switch ev := ev.(type) {
	case *a2a.Message:
		if ev != nil {
			out := event{state: answered, task: string(ev.TaskID), context: ev.ContextID}
			var failed bool
			if out.failure, failed = errcode.FromMessage(ev); !failed {
				out.pieces = []piece{{parts: partsOf(ev.Parts), metadata: ev.Metadata}}
				if !hasContent(out.pieces[0].parts) {
					return out, &eventError{text: "a message without content"}
				}
			}
			return out, nil
		}
	case *a2a.Task:
		if ev != nil {
			out, err := statusOf(ev.TaskInfo(), ev.Status)
			out.whole = true
			out.failure, _ = errcode.FromTask(ev)
			for _, a := range ev.Artifacts {
				if a != nil {
					p := pieceOf(a)
					p.whole = true
					out.pieces = append(out.pieces, p)
				}
			}
			return out, err
		}
	case *a2a.TaskStatusUpdateEvent:
		if ev != nil {
			out, err := statusOf(ev.TaskInfo(), ev.Status)
			out.failure, _ = errcode.FromEvent(ev)
			return out, err
		}
	case *a2a.TaskArtifactUpdateEvent:
		if ev != nil && ev.Artifact != nil {
			p := pieceOf(ev.Artifact)
			p.more, p.last = ev.Append, ev.LastChunk
			return event{task: string(ev.TaskID), context: ev.ContextID, pieces: []piece{p}}, nil
		}
	}
	return event{}, &eventError{text: fmt.Sprintf("an event of type %T without content", ev)}
}

func statusOf(info a2a.TaskInfo, s a2a.TaskStatus) (event, error) {
	out := event{task: string(info.TaskID), context: info.ContextID}
	var known bool
	if out.state, known = states[s.State]; !known {
		return out, &eventError{text: fmt.Sprintf("a task in the state %.40q", s.State)}
	}
	if out.task == "" {
		return out, &eventError{text: "a task without an id"}
	}
	if s.Message == nil {
		return out, nil
	}
	out.status.id = s.Message.ID
	for _, p := range partsOf(s.Message.Parts) {
		out.status.size += p.Size()
		switch p.Kind() {
		case stream.KindText:
			if out.status.text != "" {
				out.status.text += "\n"
			}
			out.status.text += p.Text()
		case stream.KindData:
			if out.status.data == nil {
				out.status.data = p.Data()
			}
		default:
		}
	}
	return out, nil
}

func hasContent(parts []stream.Part) bool {
	return slices.ContainsFunc(parts, func(p stream.Part) bool { return units(p) > 0 })
}

func pieceOf(a *a2a.Artifact) piece {
	return piece{
		id: string(a.ID), name: a.Name, description: a.Description, metadata: a.Metadata, parts: partsOf(a.Parts),
	}
}
