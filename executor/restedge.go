package executor

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/internal/schema"
)

// restEdge is the edge of HTTP+JSON below root.
type restEdge struct {
	*config
	root    string // the escaped path that the host's binding does not know
	table   []operation
	next    http.Handler
	tenants http.Handler // the same below the name of a tenant, nil in 0.3
	old     bool
}

// ServeHTTP implements http.Handler.
func (e restEdge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = shallow(r)
	a := e.answer(w, r)
	a.old, a.x.old = e.old, e.old
	a.x.whole = "/body"
	defer a.finish(r)
	op, fields, next, allowed := e.find(r)
	if op == nil {
		e.hurry(w, r)
		refused := notFound()
		if len(allowed) > 0 {
			refused = notAllowed(allowed...)
		}
		a.refuse(r, refused)
		return
	}
	a.op = op
	version := version10
	if e.old {
		version = version03
	}
	if _, refused := e.admitHTTP(a, r, version); refused != nil {
		e.hurry(w, r)
		a.refuse(r, refused)
		return
	}
	body, refused := e.readBody(a, r)
	if refused == nil {
		body, refused = e.checkREST(a, r, fields, body)
	}
	if refused != nil {
		a.refuse(r, refused)
		return
	}
	a.hand(next, stripped(r, e.root), body)
}

// find gives the operation of a request, what its path says, and who is to answer
// it. A path may begin with a tenant, as the protocol's HTTP annotations have it.
func (e restEdge) find(r *http.Request) (op *operation, fields map[string]string, next http.Handler, allowed []string) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), e.root)
	op, fields, allowed = byPath(r.Method, path, e.table)
	if op != nil || e.tenants == nil {
		return op, fields, e.next, allowed
	}
	first, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	tenant, err := url.PathUnescape(first)
	if !ok || err != nil || !isSegment(tenant) {
		return nil, nil, nil, allowed
	}
	op, fields, others := byPath(r.Method, "/"+rest, e.table)
	if op != nil {
		fields["tenant"] = tenant
	}
	return op, fields, e.tenants, append(allowed, others...)
}

// checkREST checks what the path, the query and the body say together, and gives
// the body as the host's binding reads it.
func (e restEdge) checkREST(a *answer, r *http.Request, fields map[string]string, body []byte) ([]byte, error) {
	var tree any = map[string]any{}
	var twice []string
	if a.op.query {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if whole, _ := url.QueryUnescape(r.URL.RawQuery); err != nil || !utf8.ValidString(whole) {
			return nil, refuse(a2a.ErrInvalidRequest, "The query of the URL is malformed.")
		}
		tree = schema.FromQuery(query)
	} else if len(body) > 0 || len(fields) == 0 {
		var err error
		if tree, twice, err = e.decodeBody(a.x, body); err != nil {
			return nil, err
		}
	}
	if m, ok := tree.(map[string]any); ok {
		for k, v := range fields {
			m[k] = v
		}
	}
	settled, err := e.checkOperation(a.x, a.op, a.op.params, tree, repeated(twice, "", anywhere))
	switch {
	case settled == nil:
	case a.op.query:
		asQuery(r, settled)
	default:
		body = encode(settled)
	}
	return body, err
}

// asQuery writes the numbers of a query as the host reads them.
func asQuery(r *http.Request, settled any) {
	query, u := r.URL.Query(), *r.URL
	m, _ := settled.(map[string]any)
	for k, v := range m {
		if n, ok := v.(json.Number); ok {
			query.Set(k, string(n))
		}
	}
	u.RawQuery = query.Encode()
	r.URL = &u
}

// stripped is r below root.
func stripped(r *http.Request, root string) *http.Request {
	out := r.Clone(r.Context())
	out.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), root)
	out.URL.Path = strings.TrimPrefix(r.URL.Path, root)
	return out
}
