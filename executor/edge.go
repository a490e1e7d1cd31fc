package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/schema"
)

// The edge is what stands in front of the host's HTTP bindings. In this order
// it refuses
//
//	a path or a method that there is not     nothing else can be known of it
//	a caller who is not authenticated        who learns nothing more
//	a protocol version that is not served    what follows depends on it
//	extensions that are missing              they may change what follows
//	a body that does not say it is JSON      a web page could send it unasked
//	a body that is late, too large or no JSON
//	fields that are missing or wrong         all of them at once
//
// and hands the rest on, with an answer as the ResponseWriter, which gives
// errors their final form.

// rpcEdge is the edge of JSON-RPC. A generation that its path does not serve is
// nil.
type rpcEdge struct {
	*config
	current, old http.Handler
}

// ServeHTTP implements http.Handler.
func (e rpcEdge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = shallow(r)
	a := e.answer(w, r)
	a.rpc, a.old = true, e.current == nil
	a.x.whole = "/params"
	defer a.finish(r)
	if r.Method != http.MethodPost {
		e.hurry(w, r)
		a.refuse(r, notAllowed(http.MethodPost))
		return
	}
	version, refused := e.admitHTTP(a, r, e.versions()...)
	if refused != nil {
		e.hurry(w, r)
		a.peek(io.LimitReader(r.Body, enoughToPeek))
		a.refuse(r, refused)
		return
	}
	body, refused := e.readBody(a, r)
	if refused != nil {
		a.refuse(r, refused)
		return
	}
	next, body, refused := e.route(a, version, body)
	if refused != nil {
		a.refuse(r, refused)
		return
	}
	a.hand(next, r, body)
}

func (e rpcEdge) versions() []string {
	if e.current == nil {
		return []string{version03}
	}
	return []string{version10, version03}
}

// route looks into the envelope: which operation it is, of which generation,
// and whether its parameters are what they should be.
func (e rpcEdge) route(a *answer, version string, body []byte) (http.Handler, []byte, error) {
	tree, twice, err := e.decodeBody(a.x, body)
	if err != nil {
		a.peek(bytes.NewReader(body))
		return nil, nil, err
	}
	m, ok := tree.(map[string]any)
	if !ok {
		return nil, nil, refuse(a2a.ErrInvalidRequest, "Expected one request object; batches are not supported.")
	}
	if id, ok := requestID(m["id"]); ok {
		a.id = id
	} else {
		return nil, nil, refuse(a2a.ErrInvalidRequest, "The id must be a string, a number or null.")
	}
	method, _ := m["method"].(string)
	a.old = e.current == nil || version == version03 || version == "" && strings.Contains(method, "/")
	a.x.old = a.old
	inParams := func(p string) bool { return strings.HasPrefix(p, "/params/") }
	if found := append(schema.Check(schema.Envelope, m), repeated(twice, "", func(p string) bool { return !inParams(p) })...); len(found) > 0 {
		refused := refuse(a2a.ErrInvalidRequest, "")
		refused.violations = found
		return nil, nil, refused
	}
	if a.is(byRPC(method, a.old)); a.op == nil {
		return nil, nil, refuse(a2a.ErrMethodNotFound, "")
	}
	next, rule := e.current, a.op.params
	if a.old {
		next, rule = e.old, a.op.oldish
	}
	params := m["params"]
	if params == nil {
		params = map[string]any{}
	}
	settled, err := e.checkOperation(a.x, a.op, rule, params, repeated(twice, "/params", inParams))
	if settled == nil && m["params"] == nil { // which the host needs
		settled = params
	}
	if settled != nil {
		m["params"] = settled
		body = encode(m)
	}
	return next, body, err
}

// enoughToPeek is how much of a request is read that is refused whatever it says.
const enoughToPeek = 64 << 10

// peek finds what the answer needs of a request that is refused undecoded.
func (a *answer) peek(body io.Reader) {
	var m map[string]json.RawMessage // in which a name is exactly that
	if json.NewDecoder(body).Decode(&m) != nil {
		return
	}
	var id any
	d := json.NewDecoder(bytes.NewReader(m["id"]))
	d.UseNumber()
	if d.Decode(&id) == nil {
		a.id, _ = requestID(id)
	}
	var method string
	if json.Unmarshal(m["method"], &method) == nil {
		a.is(byRPC(method, strings.Contains(method, "/")))
	}
}

// is tells the answer which operation it is.
func (a *answer) is(o *operation) {
	a.op = o
	if o != nil {
		a.events = o.stream
	}
}

// requestID gives the id of a request as it is to stand in the answer.
func requestID(v any) (json.RawMessage, bool) {
	null := json.RawMessage("null")
	switch id := v.(type) {
	case json.Number:
		if _, err := id.Float64(); err != nil {
			return null, false
		}
	case nil, string:
	default:
		return null, false
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return null, false
	}
	return raw, true
}

// encode writes a tree that was decoded.
func encode(tree any) []byte {
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil // not of what was JSON
	}
	return raw
}

// admitHTTP is what all HTTP requests have in common: who makes it, which
// version it speaks, which extensions it wants.
func (c *config) admitHTTP(a *answer, r *http.Request, versions ...string) (version string, err error) {
	if c.guards() {
		if a.x.caller, err = c.authenticate(r.Context(), r.Header.Values); err != nil {
			return "", err
		}
	}
	asked := r.Header.Values(a2a.SvcParamVersion)
	if len(asked) == 0 {
		asked = r.URL.Query()[a2a.SvcParamVersion]
	}
	version, refused := negotiate(asked, versions)
	if refused != nil {
		return "", refused
	}
	extensions := splitList(append(r.Header.Values(a2a.SvcParamExtensions), r.Header.Values(oldExtensions)...))
	for _, name := range []string{a2a.SvcParamExtensions, oldExtensions} {
		r.Header.Del(name)
	}
	if len(extensions) > 0 {
		r.Header[http.CanonicalHeaderKey(a2a.SvcParamExtensions)] = extensions
	}
	if a.x.activated, refused = c.activate(extensions); refused != nil {
		return "", refused
	}
	return version, bodyType(r)
}

// oldExtensions is the name of A2A-Extensions in A2A 0.3.
const oldExtensions = "X-" + a2a.SvcParamExtensions

// readBody reads as much as the server takes.
func (c *config) readBody(a *answer, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(a.ResponseWriter, r.Body, c.maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, tooLargeBody(tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, lateBody()
	case err != nil:
		return nil, refuse(a2a.ErrInvalidRequest, "The body of the request could not be read.")
	}
	bodyRead(a.ResponseWriter)
	return body, nil
}

func (c *config) decodeBody(x *exchange, body []byte) (any, []string, error) {
	if _, values := schema.Measure(body); !c.affordable(values) {
		return nil, nil, c.tooManyValues(x.whole)
	}
	tree, twice, err := schema.Decode(body)
	switch {
	case errors.Is(err, schema.ErrDepth):
		return nil, nil, refuse(a2a.ErrInvalidRequest, tooDeep)
	case err != nil:
		return nil, nil, refuse(a2a.ErrParseError, "")
	}
	return tree, twice, nil
}

// repeated tells of members that stand twice in an object where it is asked
// for, below root: decoders differ in which one they take.
func repeated(pointers []string, root string, where func(string) bool) []errcode.Violation {
	var out []errcode.Violation
	for _, p := range pointers {
		if where(p) {
			out = append(out, errcode.Violation{Field: strings.TrimPrefix(p, root), Message: "appears more than once"})
		}
	}
	return out
}

func anywhere(string) bool { return true }

// hand gives the request to the host's binding.
func (a *answer) hand(next http.Handler, r *http.Request, body []byte) {
	r = r.WithContext(withExchange(r.Context(), a.x))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	returned := apart(func() {
		defer func() {
			if v := recover(); v != nil {
				a.broken(r, v)
			}
		}()
		next.ServeHTTP(a, r)
	})
	if !returned {
		a.broken(r, errExited)
	}
}

// broken answers where a binding panicked: an interceptor can put anything into
// a response. What is half written cannot be mended.
func (a *answer) broken(r *http.Request, v any) {
	err := a.panicked(r.Context(), v)
	if !a.committed || a.streams() {
		a.refuse(r, err)
	}
}

// shallow is r with a header of its own, for whoever called us keeps theirs.
func shallow(r *http.Request) *http.Request {
	out := r.WithContext(r.Context())
	out.Header = r.Header.Clone()
	if out.Header == nil {
		out.Header = http.Header{}
	}
	return out
}
