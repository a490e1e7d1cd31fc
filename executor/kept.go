package executor

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/plain"
)

// Where tasks outlive the process, what a run can read of its request outlives
// it too, as long as the run works: a process that goes on with the run of a
// dead one sees the same. The message is in the task's history; this is the rest.

type requestKey struct{}

// RequestToKeep is for a [LeaseStore]: it gives what is to be kept with the task that
// the call stores, in the place of what was, or nothing. It is JSON: the
// request's metadata, tenant, accepted output modes and language, whether the client
// follows the run as a stream, and the user's name and attributes; none of the
// request's headers, and nothing that errcode.Redact knows for a secret.
func RequestToKeep(ctx context.Context) (text string, ok bool) {
	text, ok = ctx.Value(requestKey{}).(string)
	return text, ok
}

// keptRequest is what is kept of a request.
type keptRequest struct {
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Tenant      string          `json:"tenant,omitempty"`
	OutputModes []string        `json:"outputModes,omitempty"`
	Language    string          `json:"language,omitempty"`
	Streaming   bool            `json:"streaming,omitempty"`
	User        keptUser        `json:"user"`
}

type keptUser struct {
	Name          string                   `json:"name,omitempty"`
	Authenticated bool                     `json:"authenticated,omitempty"`
	Attributes    map[string]keptAttribute `json:"attributes,omitempty"`
}

// keptAttribute is a value of one of the types that are kept.
type keptAttribute struct {
	Value json.RawMessage `json:"value,omitempty"` // plain JSON
	Texts *[]string       `json:"texts,omitempty"` // a []string
	Whole *int            `json:"whole,omitempty"` // an int
}

// maxAttributes bounds the attributes of a user that are kept, in bytes.
const maxAttributes = 64 << 10

// keepRequest makes the text that is kept of the request of a run. What is not
// kept of the user's attributes is logged by name.
func (c *config) keepRequest(ctx context.Context, ec *a2asrv.ExecutorContext, from call) string {
	k := keptRequest{
		Tenant: ec.Tenant, OutputModes: from.outputModes, Language: languageOf(ec.ServiceParams), Streaming: from.streaming,
	}
	if len(ec.Metadata) > 0 {
		clean, _ := withoutSecrets("", ec.Metadata)
		k.Metadata, _ = plain.Marshal(clean) // plain values cannot fail
	}
	if u := ec.User; u != nil {
		k.User = keptUser{Name: u.Name, Authenticated: u.Authenticated}
		var left []string
		k.User.Attributes, left = keepAttributes(u.Attributes)
		if len(left) > 0 {
			emit(ctx, c.logger, slog.LevelDebug, "attributes of the user are not kept for a recovery",
				slog.String("task_id", string(ec.TaskID)), slog.Any("attributes", left))
		}
	}
	text, err := json.Marshal(k)
	if err != nil { // nothing in it can fail
		return ""
	}
	return string(text)
}

// keepAttributes keeps what is made of plain values, texts and whole numbers, is
// no secret, and fits; left are the names of the others.
func keepAttributes(all map[string]any) (kept map[string]keptAttribute, left []string) {
	size := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, n, ok := keepAttribute(name, all[name])
		if !ok || size+n > maxAttributes {
			left = append(left, name)
			continue
		}
		size += n
		if kept == nil {
			kept = map[string]keptAttribute{}
		}
		kept[name] = a
	}
	return kept, left
}

func keepAttribute(name string, v any) (a keptAttribute, size int, ok bool) {
	budget := maxAttributes
	switch t := v.(type) {
	case []string:
		a.Texts = &t
		v, _ = plain.Value(t)
	case int:
		a.Whole = &t
		v = float64(t)
	}
	if !isPlain(v, 0, &budget) {
		return a, 0, false
	}
	clean, ok := withoutSecrets(name, v)
	if !ok {
		return a, 0, false
	}
	text, err := plain.Marshal(clean)
	if a.Texts == nil && a.Whole == nil {
		a.Value = text
	}
	return a, len(name) + len(text), err == nil
}

// withoutSecrets gives a plain value without those members of objects in it that
// errcode.Redact would mask, by their names or what they are. It reports whether
// anything is left. v itself is not changed.
func withoutSecrets(name string, v any) (clean any, ok bool) {
	if !secret(name, v) {
		return v, true
	}
	clean, ok = sifted(name, v)
	return clean, ok && !secret(name, clean)
}

// sifted leaves out what is a secret by itself.
func sifted(name string, v any) (clean any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e, ok := sifted(k, e); ok {
				out[k] = e
			}
		}
		return out, !secret(name, "x")
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if e, ok := sifted(name, e); ok {
				out = append(out, e)
			}
		}
		return out, !secret(name, "x")
	}
	return v, !secret(name, v)
}

func secret(name string, v any) bool {
	text, err := plain.Marshal(map[string]any{name: v})
	return err != nil || errcode.Redact(string(text)) != string(text)
}

// requestKept reads what was kept. Where nothing was, or it cannot be read, the
// owner is all that is known.
func requestKept(text, owner string) (k keptRequest) {
	if json.Unmarshal([]byte(text), &k) != nil {
		k = keptRequest{}
	}
	if k.User.Name == "" && !k.User.Authenticated {
		k.User = keptUser{Name: owner, Authenticated: owner != "", Attributes: k.User.Attributes}
	}
	return k
}

// message makes the request again that began a run.
func (k keptRequest) message(m *a2a.Message) *a2a.SendMessageRequest {
	req := &a2a.SendMessageRequest{
		Message: m, Tenant: k.Tenant,
		Config: &a2a.SendMessageConfig{ReturnImmediately: true, AcceptedOutputModes: k.OutputModes},
	}
	if v, err := plain.Unmarshal(k.Metadata); err == nil {
		req.Metadata, _ = v.(map[string]any)
	}
	return req
}

func (k keptRequest) params() *a2asrv.ServiceParams {
	if k.Language == "" {
		return a2asrv.NewServiceParams(nil)
	}
	return a2asrv.NewServiceParams(map[string][]string{"accept-language": {k.Language}})
}

func (u keptUser) user() *a2asrv.User {
	out := &a2asrv.User{Name: u.Name, Authenticated: u.Authenticated}
	for name, a := range u.Attributes {
		v, ok := a.value()
		if !ok {
			continue
		}
		if out.Attributes == nil {
			out.Attributes = map[string]any{}
		}
		out.Attributes[name] = v
	}
	return out
}

func (a keptAttribute) value() (v any, ok bool) {
	switch {
	case a.Texts != nil:
		return *a.Texts, true
	case a.Whole != nil:
		return *a.Whole, true
	}
	v, err := plain.Unmarshal(a.Value)
	return v, err == nil
}
