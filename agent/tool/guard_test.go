package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/hitl"
)

type empty struct{}

// failing makes a tool that does what f does.
func failing(f func(ctx context.Context) (string, error)) tool.Tool {
	return tool.Func("t", "", func(ctx context.Context, _ empty) (string, error) { return f(ctx) })
}

func returning(err error) tool.Tool {
	return failing(func(context.Context) (string, error) { return "", err })
}

// TestWhoDealsWithIt lists, for what a tool may do, what the model is told or
// what fails the request.
func TestWhoDealsWithIt(t *testing.T) {
	t.Parallel()
	question := hitl.InputRequired("Which one?")
	for name, c := range map[string]struct {
		tool tool.Tool
		text string // what the model is told
		code errcode.Code
		want string // the reason of what fails the request
	}{
		"refused":        {returning(fmt.Errorf("dial: %w", syscall.ECONNREFUSED)), fmt.Sprintf(unavailable, "t"), "", ""},
		"timeout":        {returning(fmt.Errorf("ask: %w", context.DeadlineExceeded)), fmt.Sprintf(unavailable, "t"), "", ""},
		"for good":       {returning(errcode.New(errcode.UpstreamUnavailable, "gone", errcode.Retriable(false))), "", errcode.UpstreamUnavailable, "gone"},
		"result":         {returning(tool.ErrorResult("no account %d, Bearer abcdefghijklmnop1234", 7)), "no account 7, Bearer [redacted]", "", ""},
		"wrapped":        {returning(fmt.Errorf("look up: %w", tool.ErrorResult("none"))), "none", "", ""},
		"missing":        {returning(&errcode.MissingFieldError{Field: "account_id"}), "Missing required argument: account_id", "", ""},
		"input":          {returning(errcode.New(errcode.InvalidInput, "x", errcode.Message("The date\nis past."))), "The date is past.", "", ""},
		"not found":      {returning(errcode.New(errcode.NotFound, "nobody")), "", errcode.NotFound, "nobody"},
		"auth":           {returning(&errcode.MissingAPIKeyError{Name: "K"}), "", errcode.AuthRequired, "missing_api_key_error"},
		"unknown":        {returning(errors.New("the private text")), "", errcode.Internal, "internal_error"},
		"panic":          {failing(func(context.Context) (string, error) { panic("x") }), "", errcode.Internal, "panic"},
		"nil panic":      {failing(func(context.Context) (string, error) { panic(error(nil)) }), "", errcode.Internal, "panic"},
		"exit":           {failing(func(context.Context) (string, error) { runtime.Goexit(); return "", nil }), "", errcode.Internal, "tool_exited"},
		"own cancel":     {returning(context.Canceled), "", errcode.Internal, "context_canceled"},
		"unserialisable": {tool.Func("t", "", func(context.Context, empty) (any, error) { return make(chan int), nil }), "", errcode.Internal, "unsupported_type_error"},
		"question":       {returning(question), "", "", ""},
		"told question":  {returning(fmt.Errorf("so: %w", question)), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := guard(t, c.tool).Call(request(t), nil)
			switch {
			case c.text != "":
				if err != nil || !out.IsError || out.Text != c.text {
					t.Errorf("got %+v, %v, want %q", out, err, c.text)
				}
			case c.code != "":
				expectEscape(t, err, c.code, c.want, "internal:t", 0)
			case hitl.Find(err) != question:
				t.Errorf("got %v, want the question", err)
			}
		})
	}
}

// TestTableInContextDecides: a rule of the server's makes an error of the user's
// a strike.
func TestTableInContextDecides(t *testing.T) {
	t.Parallel()
	locked := errors.New("ledger locked")
	ctx := errcode.WithTable(request(t), errcode.NewTable(errcode.OnError(locked, errcode.UpstreamUnavailable, "ledger_locked", errcode.Source("db:ledger"))))
	g := guard(t, returning(locked))
	for range 2 {
		if out, err := g.Call(ctx, nil); err != nil || out.Text != fmt.Sprintf(unavailable, "t") {
			t.Errorf("got %+v, %v", out, err)
		}
	}
	_, err := g.Call(ctx, nil)
	expectEscape(t, err, errcode.UpstreamUnavailable, "ledger_locked", "db:ledger", 2)
}

// TestStrikesOption: the first failure may be the last.
func TestStrikesOption(t *testing.T) {
	t.Parallel()
	_, err := guard(t, returning(syscall.ECONNREFUSED), tool.Strikes(1)).Call(request(t), nil)
	expectEscape(t, err, errcode.UpstreamUnavailable, "connection_refused", "internal:t", 0)
}

// TestWithoutRequest: nothing is counted where nobody said what a request is.
func TestWithoutRequest(t *testing.T) {
	t.Parallel()
	g := guard(t, returning(syscall.ECONNREFUSED))
	for range 5 {
		if out, err := g.Call(t.Context(), nil); err != nil || !out.IsError {
			t.Errorf("got %+v, %v", out, err)
		}
	}
}

// TestManyAtOnce: calls side by side do not get past the limit either.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var calls, running, most atomic.Int64
	g := guard(t, failing(func(context.Context) (string, error) {
		calls.Add(1)
		most.Store(max(most.Load(), running.Add(1)))
		runtime.Gosched()
		running.Add(-1)
		return "", syscall.ECONNREFUSED
	}))
	ctx := request(t)
	var all sync.WaitGroup
	var told, failed atomic.Int64
	for range 20 {
		all.Go(func() {
			if _, err := g.Call(ctx, nil); err != nil {
				failed.Add(1)
				return
			}
			told.Add(1)
		})
	}
	all.Wait()
	if calls.Load() != 3 || told.Load() != 2 || failed.Load() != 18 || most.Load() > 3 {
		t.Errorf("%d calls, at most %d at once, %d told, %d failed, want 3, 3, 2, 18",
			calls.Load(), most.Load(), told.Load(), failed.Load())
	}
}

// TestAnyOrderOfFailures: whatever order failures and successes come in, the
// third failure is the last call.
func TestAnyOrderOfFailures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(r, "limit")
		fails := rapid.SliceOf(rapid.Bool()).Draw(r, "fails")
		calls := 0
		g, err := tool.Guard(failing(func(context.Context) (string, error) {
			calls++
			if fails[calls-1] {
				return "", syscall.ECONNRESET
			}
			return "fine", nil
		}), tool.Strikes(limit))
		if err != nil {
			r.Fatal(err)
		}
		ctx, strikes, made := tool.WithRequest(t.Context()), 0, 0
		for _, fail := range fails {
			spent := strikes == limit
			out, err := g.Call(ctx, nil)
			if !spent {
				made++
				if fail {
					strikes++
				}
			}
			if over := strikes == limit; over != (err != nil) || !over && out.IsError != fail {
				r.Fatalf("after %d of %d strikes: got %+v, %v", strikes, limit, out, err)
			}
		}
		if calls != made {
			r.Fatalf("%d calls, want %d", calls, made)
		}
	})
}

// TestCancelIsNoStrike: whoever cancels a request gets the cause, whatever the
// tool made of it, and the tool none of the blame.
func TestCancelIsNoStrike(t *testing.T) {
	t.Parallel()
	why := errors.New("the user left")
	for name, f := range map[string]func(context.Context) (string, error){
		"listens":   func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"obscures":  func(ctx context.Context) (string, error) { <-ctx.Done(); return "", syscall.ECONNRESET },
		"complains": func(ctx context.Context) (string, error) { <-ctx.Done(); return "", tool.ErrorResult("no") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{}, 8)
			g := guard(t, failing(func(ctx context.Context) (string, error) { began <- struct{}{}; return f(ctx) }), tool.Strikes(1))
			scope := request(t)
			for range 2 {
				ctx, cancel := context.WithCancelCause(scope)
				go func() { <-began; cancel(why) }()
				if _, err := g.Call(ctx, nil); !errors.Is(err, why) {
					t.Errorf("got %v, want %v", err, why)
				}
				if _, err := g.Call(ctx, nil); !errors.Is(err, why) {
					t.Errorf("afterwards: got %v, want %v", err, why)
				}
			}
		})
	}
}

// TestWordAtTheLastMoment: a question, an error result and a panic of a tool whose
// time was just over became timeouts, and the question was lost.
func TestWordAtTheLastMoment(t *testing.T) {
	t.Parallel()
	question := hitl.InputRequired("Which one?")
	for name, c := range map[string]struct {
		word func() error
		text string
		code errcode.Code
	}{
		"question": {word: func() error { return question }},
		"result":   {word: func() error { return tool.ErrorResult("no account 4711") }, text: "no account 4711"},
		"panic":    {word: func() error { panic("at the last moment") }, code: errcode.Internal},
		"failure":  {word: func() error { return errors.New("interrupted") }, text: fmt.Sprintf(unavailable, "t")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := guard(t, failing(func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", c.word()
			}), tool.Timeout(time.Nanosecond))
			out, err := g.Call(request(t), nil)
			switch {
			case c.code != "":
				expectEscape(t, err, c.code, "panic", "internal:t", 0)
			case c.text != "":
				if err != nil || out.Text != c.text || !out.IsError {
					t.Errorf("got %+v, %v", out, err)
				}
			case hitl.Find(err) != question:
				t.Errorf("got %+v, %v, want the question", out, err)
			}
		})
	}
}

// TestDeaf: a tool that never returns is left behind.
func TestDeaf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		g := guard(t, failing(func(context.Context) (string, error) { <-release; return "late", nil }), tool.Timeout(time.Minute), tool.Strikes(2))
		ctx := tool.WithRequest(t.Context())
		begin := time.Now()
		if out, err := g.Call(ctx, nil); err != nil || out.Text != fmt.Sprintf(unavailable, "t") {
			t.Errorf("got %+v, %v", out, err)
		}
		if d := time.Since(begin); d < time.Minute || d > 62*time.Second {
			t.Errorf("took %v", d)
		}
		_, err := g.Call(ctx, nil)
		expectEscape(t, err, errcode.UpstreamTimeout, "deadline_exceeded", "internal:t", 1)
	})
}

// TestRateLimits: the delay asked for is waited out; what does not fit is not begun.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	limited := func(after time.Duration, times int) (tool.Tool, *int) {
		calls := new(int)
		return failing(func(context.Context) (string, error) {
			if *calls++; *calls <= times {
				opts := []errcode.Option{errcode.RetryAfter(after)}
				if after < 0 {
					opts = nil
				}
				return "", errcode.New(errcode.RateLimited, "quota", opts...)
			}
			return "fine", nil
		}), calls
	}
	for name, c := range map[string]struct {
		after, took, deadline time.Duration
		times, calls          int
		fails                 bool
	}{
		"obeyed":           {after: 7 * time.Second, times: 3, took: 21 * time.Second, calls: 4},
		"too long":         {after: 31 * time.Second, times: 1, calls: 1, fails: true},
		"too often":        {after: 20 * time.Second, times: 2, took: 20 * time.Second, calls: 2, fails: true},
		"past deadline":    {after: 7 * time.Second, times: 1, deadline: 5 * time.Second, calls: 1, fails: true},
		"before deadline":  {after: 7 * time.Second, times: 1, deadline: 8 * time.Second, took: 7 * time.Second, calls: 2},
		"no delay at all":  {after: 0, times: 1000, calls: 30, fails: true},
		"delay not stated": {after: -1, times: 2, took: -1, calls: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bare, calls := limited(c.after, c.times)
				g, ctx := guard(t, bare, tool.Strikes(1)), tool.WithRequest(t.Context())
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				begin := time.Now()
				out, err := g.Call(ctx, nil)
				if c.fails {
					expectEscape(t, err, errcode.RateLimited, "quota", "internal:t", c.calls-1)
				} else if err != nil || out.Text != "fine" {
					t.Errorf("got %+v, %v", out, err)
				}
				if took := time.Since(begin); c.took >= 0 && took != c.took || *calls != c.calls {
					t.Errorf("took %v and %d calls, want %v and %d", took, *calls, c.took, c.calls)
				}
			})
		})
	}
}

// TestLargeResults: they are cut at a character, with a mark.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result, want string
		opts         []tool.GuardOption
	}{
		"short":       {"äöü", "äöü", []tool.GuardOption{tool.MaxResult(6)}},
		"cut":         {"äöü", "äö… [cut, 6 bytes in all]", []tool.GuardOption{tool.MaxResult(5)}},
		"no limit":    {strings.Repeat("x", 100_000), strings.Repeat("x", 100_000), []tool.GuardOption{tool.MaxResult(0)}},
		"default":     {strings.Repeat("x", 65537), strings.Repeat("x", 65536) + "… [cut, 65537 bytes in all]", nil},
		"not UTF-8":   {"a\xffb", "a\uFFFDb", nil},
		"not UTF-8/2": {"ab\xff\xff\xff", "ab… [cut, 5 bytes in all]", []tool.GuardOption{tool.MaxResult(3)}},
	} {
		g := guard(t, failing(func(context.Context) (string, error) { return c.result, nil }), c.opts...)
		out, err := g.Call(request(t), nil)
		if err != nil || !utf8.ValidString(out.Text) {
			t.Errorf("%s: got %v", name, err)
		}
		if diff := cmp.Diff(c.want, out.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	fine := returning(nil)
	for name, c := range map[string]struct {
		tool tool.Tool
		opts []tool.GuardOption
		want string
	}{
		"nil":         {nil, nil, "expected a tool, got nil"},
		"no name":     {tool.Func("", "", func(context.Context, empty) (string, error) { return "", nil }), nil, "name"},
		"no function": {tool.Func[empty, string]("t", "", nil), nil, "expected one, got nil"},
		"no object":   {tool.Func("t", "", func(context.Context, string) (string, error) { return "", nil }), nil, "expected a struct or a map, got string"},
		"no schema":   {tool.Func("t", "", func(context.Context, struct{ C chan int }) (string, error) { return "", nil }), nil, "input schema"},
		"bad source":  {tool.Func("t", "", func(context.Context, empty) (string, error) { return "", nil }, tool.FuncSource("x")), nil, "system:locator"},
		"options": {
			fine,
			[]tool.GuardOption{tool.Strikes(0), tool.Timeout(-1), tool.MaxResult(-1), tool.RateLimitWait(-1), {}},
			"strikes: expected 1 or more, got 0\ntimeout: expected 0s or more, got -1ns\nmax result: expected 0 or more, got -1\nrate limit wait: expected 0s or more, got -1ns",
		},
	} {
		_, err := tool.Guard(c.tool, c.opts...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
	g := guard(t, fine)
	if again := guard(t, g, tool.Strikes(7)); again != g {
		t.Error("guarding twice changes something")
	}
}

// odd is a tool with a name and a schema that nothing can be done with.
type odd struct{ tool.Tool }

func (odd) Spec() tool.Spec {
	return tool.Spec{Name: " a\nb ", InputSchema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)}
}

func (odd) Call(context.Context, json.RawMessage) (tool.Output, error) {
	return tool.Output{}, syscall.ECONNREFUSED
}

// TestOddTool: whatever a tool is called, failures have a valid source, and the
// model gets one line.
func TestOddTool(t *testing.T) {
	t.Parallel()
	g := guard(t, odd{}, tool.Strikes(2))
	ctx := request(t)
	out, err := g.Call(ctx, json.RawMessage(`{"anything":1}`))
	if err != nil || out.Text != fmt.Sprintf(unavailable, "a b") {
		t.Errorf("got %+v, %v", out, err)
	}
	_, err = g.Call(ctx, nil)
	expectEscape(t, err, errcode.UpstreamUnavailable, "connection_refused", "internal:a_b", 1)
}

// blank has nothing but a blank for its name.
type blank struct{ odd }

func (blank) Spec() tool.Spec { return tool.Spec{Name: " "} }

func TestBlankToolHasASource(t *testing.T) {
	t.Parallel()
	_, err := guard(t, blank{}, tool.Strikes(1)).Call(request(t), nil)
	expectEscape(t, err, errcode.UpstreamUnavailable, "connection_refused", "internal:unnamed", 0)
}

// TestToolsOfOneSourceCountForThemselves: the failures of one are not the other's,
// neither are those of a namesake in another toolset.
func TestToolsOfOneSourceCountForThemselves(t *testing.T) {
	t.Parallel()
	down := func(context.Context, empty) (string, error) {
		return "", &errcode.ComponentInvokeError{Component: "db"}
	}
	made := func(name string) tool.Tool {
		return guard(t, tool.Func(name, "", down, tool.FuncSource("db:ledger")))
	}
	debit, ctx := made("debit"), request(t)
	for range 3 {
		_, _ = debit.Call(ctx, nil)
	}
	if _, err := debit.Call(ctx, nil); err == nil {
		t.Fatal("the third failure did not escape")
	}
	for what, other := range map[string]tool.Tool{"credit": made("credit"), "debit": made("debit")} {
		if out, err := other.Call(ctx, nil); err != nil || out.Text != fmt.Sprintf(unavailable, what) {
			t.Errorf("%s: got %v, %v", what, out, err)
		}
	}
}

// TestToolThatCallsItself: it does not wait for the permits that it holds itself,
// and its failures count all the same.
func TestToolThatCallsItself(t *testing.T) {
	t.Parallel()
	type deep struct {
		N int `json:"n"`
	}
	for _, limit := range []int{1, 3} {
		for _, fails := range []bool{false, true} {
			var itself tool.Tool
			leaves := 0
			itself = guard(t, tool.Func("itself", "", func(ctx context.Context, in deep) (string, error) {
				if in.N == 0 {
					leaves++
					if fails {
						return "", &errcode.ComponentInvokeError{Component: "x"}
					}
					return "leaf", nil
				}
				out, err := itself.Call(ctx, fmt.Appendf(nil, `{"n":%d}`, in.N-1))
				return "up " + out.Text, err
			}), tool.Strikes(limit))
			ctx := request(t)
			for range 5 {
				out, err := itself.Call(ctx, []byte(`{"n":4}`))
				if !fails && (err != nil || out.Text != "up up up up leaf") {
					t.Errorf("limit %d: got %v, %v", limit, out, err)
				}
			}
			if _, err := itself.Call(ctx, []byte(`{"n":4}`)); fails && (err == nil || leaves > limit) {
				t.Errorf("limit %d: got %v after %d failures", limit, err, leaves)
			}
		}
	}
}

// TestRateLimitOfAnotherCall: the delay that one call is told is obeyed by those
// of the same request that come after it, and by no other request.
func TestRateLimitOfAnotherCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		g := guard(t, failing(func(context.Context) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(began))
			if len(at) == 1 {
				return "", errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Second))
			}
			return "ok", nil
		}), tool.RateLimitWait(5*time.Second))
		ctx := request(t)
		var both sync.WaitGroup
		both.Go(func() { _, _ = g.Call(ctx, nil) })
		synctest.Wait() // it was told to wait
		time.Sleep(10 * time.Millisecond)
		both.Go(func() { _, _ = g.Call(ctx, nil) })
		_, _ = g.Call(request(t), nil) // another request
		both.Wait()
		want := []time.Duration{0, 10 * time.Millisecond, time.Second, time.Second}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("called at (-want +got):\n%s", diff)
		}
	})
}

// TestGuardAllocations: what a call through the guard may allocate beyond the
// tool itself.
func TestGuardAllocations(t *testing.T) { //nolint:paralleltest // counts what the program allocates
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	typed := tool.Func("typed", "", func(_ context.Context, in account) (string, error) { return in.ID, nil })
	for _, c := range []struct {
		tool tool.Tool
		args string
		most float64
	}{{nothing{}, ``, 3}, {typed, `{"account_id":"4711","amount":12}`, 5}} {
		args, ctx, guarded := json.RawMessage(c.args), request(t), guard(t, c.tool)
		measure := func(called tool.Tool) float64 {
			return testing.AllocsPerRun(200, func() {
				if out, err := called.Call(ctx, args); err != nil || out.IsError {
					t.Fatal(out, err)
				}
			})
		}
		if bare, all := measure(c.tool), measure(guarded); all > bare+c.most {
			t.Errorf("%s: %v allocations, the bare tool %v", c.tool.Spec().Name, all, bare)
		}
	}
}

// TestRateLimitThatIsTooLong: a later call of the request does not ask in vain.
func TestRateLimitThatIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		called := 0
		g := guard(t, failing(func(context.Context) (string, error) {
			called++
			return "", errcode.New(errcode.RateLimited, "quota", errcode.RetryAfter(time.Hour))
		}))
		ctx := request(t)
		for i := range 2 {
			_, err := g.Call(ctx, nil)
			e := errcode.Default().Convert(err)
			if d, _ := e.RetryAfter(); e.Code() != errcode.RateLimited || d != time.Hour-time.Duration(i)*time.Minute {
				t.Errorf("call %d: got %v, %v", i+1, err, d)
			}
			time.Sleep(time.Minute)
		}
		if called != 1 {
			t.Errorf("called %d times", called)
		}
	})
}
