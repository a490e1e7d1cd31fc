package agent

import "context"

type contextKey struct{}

// NewContext returns a context that carries the request that is being handled.
// Whoever runs the agent calls it.
func NewContext(ctx context.Context, req *Request) context.Context {
	return context.WithValue(ctx, contextKey{}, req)
}

// FromContext gives the request of the run that ctx belongs to, to code deep
// inside: a flow's node, a tool. Outside of a run it gives nil and false.
func FromContext(ctx context.Context) (*Request, bool) {
	req, _ := ctx.Value(contextKey{}).(*Request)
	return req, req != nil
}
