package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unique"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Guard puts a tool behind the guard, which decides what of a failure the model
// is to deal with and what fails the request. [NewLoop] guards its tools itself;
// Guard is for loops of another make. By the table in ctx (errcode.TableFrom):
//
//   - Arguments that are missing or do not fit the schema, and errors of code
//     INVALID_INPUT, come back to the model as one line that names all of them:
//     "Missing required argument: account_id". The tool is not called for the former.
//   - A tool that is unavailable or too slow (UPSTREAM_UNAVAILABLE,
//     UPSTREAM_TIMEOUT, retriable) gives the model "Upstream tool 'NAME'
//     temporarily unavailable. Retry may succeed." and has a strike. With the third
//     (see [Strikes]) within one request the error is returned, with the tool's
//     source and how often it was retried, and so it is for every later call of
//     the tool in that request, without calling it. See [WithRequest] for what a
//     request is.
//   - RATE_LIMITED is waited out, with the delay that was asked for or one that
//     grows, and the call repeated; later calls of the tool in the request obey it,
//     too. It is no strike. See [RateLimitWait].
//   - A tool's own error result goes to the model, with credentials masked, and is
//     no strike.
//   - A question to the user (package hitl) is returned as it is. Each call has
//     questions of its own: an answer to one is none to another call, also of the
//     same tool with the same arguments.
//   - When ctx is done, its cause is returned; that is no strike.
//   - Everything else is returned with the source, a panic as an
//     errcode.PanicError.
//
// A returned error is an [*errcode.Error] but for questions and an ended ctx. A
// schema of another's tool that cannot be compiled is not checked: any object is
// taken. Guarding a guarded tool changes nothing. The error of Guard tells of a bad
// option or a bad tool.
func Guard(t Tool, opts ...GuardOption) (Tool, error) {
	s, err := newGuardSettings(opts)
	if err != nil {
		return nil, fmt.Errorf("guard tool: %w", err)
	}
	return guard(t, s)
}

func guard(t Tool, s guardSettings) (*guarded, error) {
	if t == nil {
		return nil, errors.New("guard tool: expected a tool, got nil")
	}
	if g, ok := t.(*guarded); ok {
		return g, nil
	}
	spec := t.Spec()
	if bad, ok := t.(interface{ invalid() error }); ok && bad.invalid() != nil {
		return nil, fmt.Errorf("tool %q: %w", spec.Name, bad.invalid())
	}
	if spec.Name == "" {
		return nil, errors.New("guard tool: expected a name, got none")
	}
	c, err := newChecker(spec.InputSchema)
	if _, own := t.(*funcTool); own && err != nil {
		return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
	}
	source := sourceOf(t, spec.Name)
	return &guarded{
		guardSettings: s, tool: t, spec: spec, checker: c, source: source, key: unique.Make(keyOf(t, source, spec.Name)), deep: isDeep(t),
		unavailable: fmt.Sprintf("Upstream tool '%s' temporarily unavailable. Retry may succeed.", line(spec.Name)),
	}, nil
}

// isDeep reports whether the tool decodes JSON, at least.
func isDeep(t Tool) bool {
	switch t := t.(type) {
	case *funcTool:
		return !t.prompt
	case *mcpTool:
		return true
	}
	return false
}

// sourceOf gives a source that is valid whatever the tool says.
func sourceOf(t Tool, name string) string {
	source := "internal:" + name
	if s, ok := t.(sourced); ok {
		source = s.Source()
	}
	if errcode.ValidSource(source) {
		return source
	}
	return validSource("internal:", name)
}

// validSource is a source whatever the name is like.
func validSource(system, name string) string {
	if errcode.ValidSource(system + name) {
		return system + name
	}
	name = strings.TrimSpace(strings.Map(func(r rune) rune { // which makes it valid UTF-8, too
		if unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name))
	return system + cmp.Or(name, "unnamed")
}

// guarded is a tool behind the guard.
type guarded struct {
	guardSettings
	tool        Tool
	spec        Spec
	checker     checker
	source      string
	key         unique.Handle[strikeKey]
	deep        bool // it is known to need room on the stack
	unavailable string
}

// Spec implements Tool.
func (g *guarded) Spec() Spec { return g.spec }

// Source implements sourced.
func (g *guarded) Source() string { return g.source }

// Call implements Tool.
func (g *guarded) Call(ctx context.Context, args json.RawMessage) (Output, error) {
	if ctx.Err() != nil {
		return Output{}, g.stopped(ctx)
	}
	t := &ticket{}
	args, fault := g.admit(args, &t.first)
	if fault != "" {
		return Output{Text: fault, IsError: true}, nil
	}
	s := strikesIn(ctx, g.key, g.strikes)
	p := &t.permit
	if err := s.take(ctx, p); err != nil {
		if ctx.Err() != nil {
			return Output{}, g.stopped(ctx)
		}
		return Output{}, err
	}
	out, err := g.patiently(g.withQuestions(ctx, args), s, t, args)
	if err != nil {
		return g.failed(ctx, turn{s, p}, err)
	}
	s.give(p)
	return g.presentable(out), nil
}

// admit returns the arguments to call with, or what is wrong with them. Those that
// are decoded here anyway need no other look at their syntax.
func (g *guarded) admit(args json.RawMessage, first *running) (admitted json.RawMessage, fault string) {
	args = orEmptyObject(args)
	first.g, first.args = g, args
	if err := first.prepare(); err == nil && first.prepared != nil && g.checker.quick.fits(args) {
		return args, ""
	}
	return args, g.checker.check(args)
}

// ticket is what one call needs, in one piece: its permit, and its first try.
type ticket struct {
	permit permit
	first  running
}

// presentable makes a result fit for the model.
func (g *guarded) presentable(out Output) Output {
	if out.IsError {
		out.Text = errcode.Redact(out.Text)
	}
	out.Text = limit(out.Text, g.maxResult)
	return out
}

// failed decides who deals with the failure of a call.
func (g *guarded) failed(ctx context.Context, s turn, err error) (Output, error) {
	if told, ok := errtree.As[*resultError](err); ok && ctx.Err() == nil {
		s.give()
		return g.presentable(Output{Text: errtree.Text(told), IsError: true}), nil
	}
	if ctx.Err() != nil {
		s.give()
		return Output{}, g.stopped(ctx)
	}
	if hitl.Find(err) != nil {
		s.give()
		return Output{}, err
	}
	table := errcode.TableFrom(ctx)
	class := table.Classify(err)
	if isStrike(class) {
		return g.strike(s, table, class.Code, err)
	}
	s.give()
	e := table.Convert(err)
	if class.Code == errcode.InvalidInput {
		return Output{Text: inputFault(e), IsError: true}, nil
	}
	return Output{}, g.escape(e, 0, err)
}

// isStrike reports whether the tool may work the next time.
func isStrike(c errcode.Class) bool {
	return c.Retriable && (c.Code == errcode.UpstreamUnavailable || c.Code == errcode.UpstreamTimeout)
}

// strike counts a failure. Below the limit the model may try again.
func (g *guarded) strike(s turn, table *errcode.Table, code errcode.Code, err error) (Output, error) {
	out, final := s.strike(func(failures int) error {
		if _, named := errtree.As[*errcode.ComponentInvokeError](err); !named && code == errcode.UpstreamUnavailable {
			err = &errcode.ComponentInvokeError{Component: g.spec.Name, Err: err}
		}
		return g.escape(table.Convert(err), failures-1, err)
	})
	if out {
		return Output{}, final
	}
	return Output{Text: g.unavailable, IsError: true}, nil
}

// escape is the error that fails the request.
func (g *guarded) escape(e *errcode.Error, retries int, cause error) error {
	opts := []errcode.Option{errcode.Cause(cause), errcode.Retried(e.Retried() + retries)}
	if e.Source() == "" {
		opts = append(opts, errcode.Source(g.source))
	}
	return e.With(opts...)
}

func (g *guarded) stopped(ctx context.Context) error {
	return fmt.Errorf("call tool %s: %w", line(g.spec.Name), context.Cause(ctx))
}
