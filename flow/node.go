package flow

import "context"

// Apply is what puts a node's output into the state: a function that cannot
// fail, or one that can.
type Apply[S, O any] interface {
	func(*S, O) | func(*S, O) error
}

// Node adds a node to a graph and returns its handle.
//
// fn does the work. It gets a copy of the state, with siblings the same one,
// and returns an output O: at once the artifact a client receives, the record
// that is stored, and what apply puts into the state. Only the scheduler calls
// apply, one output at a time, siblings' outputs in the order in which the nodes
// were added, after all of them finished. An apply that returns an error ends
// the run as an [*errcode.MergeStrategyError].
//
// A nil output is one, too: it is applied, stored as what the codec makes of it,
// and a node that returns it has completed. It makes no artifact, but for a nil
// slice or map, which stands for an empty one.
//
// The id must be unique in the graph and must not be empty, START or END, nor
// contain a slash; the kind says what the node is to clients ("business",
// "llm") and must not be empty.
func Node[S, O any, A Apply[S, O]](g *Graph[S], id, kind string, fn Func[S, O], apply A, opts ...NodeOption) Ref {
	n := &node[S]{meta: meta{id: id, kind: kind, limits: noLimits}}
	n.output = typeName[O]()
	if fn != nil {
		n.call = func(ctx context.Context, s *S) (any, error) {
			out, err := fn(ctx, *s)
			return out, err
		}
	}
	n.apply, n.stride = applier(fn, any(apply))
	n.decode = func(c Codec, data []byte) (any, error) {
		var out O
		err := c.Decode(data, &out)
		return out, err
	}
	n.configure(opts)
	g.nodes = append(g.nodes, n)
	return Ref{owner: g.owner, at: int32(len(g.nodes) - 1)} //nolint:gosec // a graph is small
}

// applier hides the type of the output.
func applier[S, O any](fn Func[S, O], apply any) (func(*S, any) error, strider[S]) {
	switch f := apply.(type) {
	case func(*S, O):
		if f != nil {
			return func(s *S, out any) error {
					f(s, unbox[O](out))
					return nil
				}, func(ctx context.Context, s *S, at *stage) (any, error) {
					*at = calling
					out, err := fn(ctx, *s)
					if err == nil {
						*at = applying
						f(s, out)
					}
					return out, err
				}
		}
	case func(*S, O) error:
		if f != nil {
			return func(s *S, out any) error { return f(s, unbox[O](out)) },
				func(ctx context.Context, s *S, at *stage) (any, error) {
					*at = calling
					out, err := fn(ctx, *s)
					if err == nil {
						*at = applying
						err = f(s, out)
					}
					return out, err
				}
		}
	}
	return nil, nil
}

// unbox takes back what call returned. A nil output of an interface type is an
// untyped nil, hence the zero value then.
func unbox[O any](out any) O {
	o, _ := out.(O)
	return o
}

// node is a node with its code; meta is all of it that does not depend on S.
type node[S any] struct {
	meta
	call   func(ctx context.Context, s *S) (out any, err error)
	stride strider[S]
	apply  func(s *S, out any) error
	decode func(c Codec, data []byte) (any, error)
	pick   func(S) Ref
}

// meta describes a node. It does not change after Compile.
type meta struct {
	id, kind string
	output   string // the output's type
	limits
	isJoin   bool
	tolerant bool // its fan-out continues on error
	// edges and routes are the targets, as numbers of nodes or atEnd.
	edges, routes []int32

	entry []byte // how a visit begins in a checkpoint
	// reaches are the joins that can be reached from here, precedes those that
	// can be without going back in a loop.
	reaches, precedes bitset
}

// strider calls a node and applies its output.
type strider[S any] = func(ctx context.Context, s *S, at *stage) (out any, err error)
