package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/errcode"
)

type transfer struct {
	From   string    `json:"from"             jsonschema:"the account to take from"`
	To     []string  `json:"to"               validate:"min=1"`
	Amount int8      `json:"amount"           validate:"gte=1"`
	When   time.Time `json:"when,omitzero"`
	Note   *string   `json:"note,omitempty"`
	Target struct {
		Bank string `json:"bank"`
	} `json:"target"`
}

// TestFuncArguments: the typed input decides what fits, by its type and its tags.
func TestFuncArguments(t *testing.T) {
	t.Parallel()
	called := 0
	g := guard(t, tool.Func("transfer", "moves money", func(_ context.Context, in transfer) (transfer, error) {
		called++
		return in, nil
	}))
	got := map[string]string{}
	for _, args := range []string{
		`{}`,
		`{"from":"a","to":["b"],"amount":1,"target":{}}`,
		`{"from":"a","to":[1],"amount":"1","target":7}`,
		`{"from":"a","to":["b"],"amount":300,"target":{"bank":"x"}}`,
		`{"from":"a","to":[],"amount":0,"target":{"bank":"x"}}`,
		`{"from":"a","to":["b"],"amount":1,"note":5,"when":"now","target":{"bank":"x"}}`,
		`{"from":"a","to":["b"],"amount":1,"target":{"bank":"x"}}`,
	} {
		out, err := g.Call(request(t), json.RawMessage(args))
		if err != nil {
			t.Errorf("%s: got %v", args, err)
		}
		got[args] = out.Text
	}
	want := map[string]string{
		`{}`: "Missing required argument: amount, from, target, to",
		`{"from":"a","to":["b"],"amount":1,"target":{}}`:                                 "Missing required argument: target.bank",
		`{"from":"a","to":[1],"amount":"1","target":7}`:                                  "Invalid argument: amount (expected integer, got string), target (expected object, got number), to.0 (expected string, got number)",
		`{"from":"a","to":["b"],"amount":300,"target":{"bank":"x"}}`:                     "Invalid argument: amount (maximum: got 300, want 127)",
		`{"from":"a","to":[],"amount":0,"target":{"bank":"x"}}`:                          "Invalid argument: amount (expected gte=1), to (expected min=1)",
		`{"from":"a","to":["b"],"amount":1,"note":5,"when":"now","target":{"bank":"x"}}`: "Invalid argument: note (expected string, got number)",
		`{"from":"a","to":["b"],"amount":1,"target":{"bank":"x"}}`:                       `{"from":"a","to":["b"],"amount":1,"target":{"bank":"x"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if called != 1 {
		t.Errorf("called %d times, want 1", called)
	}
}

// TestFuncResults: what a function returns becomes text.
func TestFuncResults(t *testing.T) {
	t.Parallel()
	for want, result := range map[string]any{
		"as it is": "as it is", `{"a":1}`: map[string]any{"a": 1}, "": nil, "[1]": []int{1}, "given": tool.Output{Text: "given"},
	} {
		g := guard(t, tool.Func("t", "", func(context.Context, map[string]any) (any, error) { return result, nil }))
		if out, err := g.Call(request(t), json.RawMessage(`{"x":[]}`)); err != nil || out.Text != want {
			t.Errorf("%v: got %+v, %v", result, out, err)
		}
	}
}

// TestSchemasOfOthers are schemas as other makers' servers give them.
func TestSchemasOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, args, want string }{
		"optional (pydantic)": {
			`{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`,
			`{"n":"x"}`, "Invalid argument: n (expected integer, got string)",
		},
		"union": {
			`{"properties":{"n":{"oneOf":[{"type":"object","required":["a"]},{"type":"string"}]}}}`,
			`{"n":{}}`, "Invalid argument: n (fits none of the allowed forms)",
		},
		"enum":       {`{"properties":{"n":{"enum":["a","b"]}}}`, `{"n":"c"}`, "Invalid argument: n (value must be one of 'a', 'b')"},
		"definition": {`{"properties":{"n":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"object","required":["x"]}}}`, `{"n":{}}`, "Missing required argument: n.x"},
		"draft-07":   {`{"$schema":"http://json-schema.org/draft-07/schema#","required":["a"]}`, `{}`, "Missing required argument: a"},
		"both":       {`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "Missing required argument: a, b"},
		"false":      {`{"not":{}}`, `{}`, "Invalid argument: the object ('not' failed)"},
	} {
		out, err := guard(t, withSchema(c.schema)).Call(request(t), json.RawMessage(c.args))
		if err != nil || !out.IsError || out.Text != c.want {
			t.Errorf("%s: got %+v, %v, want %q", name, out, err, c.want)
		}
	}
}

type schemaTool struct {
	tool.Tool
	schema string
}

func withSchema(schema string) tool.Tool { return schemaTool{returning(nil), schema} }

func (s schemaTool) Spec() tool.Spec {
	return tool.Spec{Name: "t", InputSchema: json.RawMessage(s.schema)}
}

// FuzzArguments: whatever a model writes and whatever a server's schema is, the
// model gets one line, or the tool an object.
func FuzzArguments(f *testing.F) {
	f.Add(`{"type":"object","required":["a"]}`, `{}`)
	f.Add(`{"anyOf":[{"type":"string"}]}`, `{"a":1}`)
	f.Add(``, `null`)
	f.Add(`{"$ref":"#"}`, `{"\u0000":[]}`)
	f.Add(`{"properties":{"n":{"minimum":0}}}`, `{"n":1e1000001}`)
	f.Add(``, `{"account_id":"a"} null`)
	type unplain struct {
		account
		N uint8 `json:"n,omitempty"`
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		for _, bare := range []tool.Tool{
			withSchema(schema),
			tool.Func("f", "", func(context.Context, account) (string, error) { return "", nil }),
			tool.Func("f", "", func(context.Context, unplain) (string, error) { return "", nil }),
			tool.Func("f", "", func(context.Context, map[string]any) (string, error) { return "", nil }),
		} {
			out, err := guard(t, bare).Call(tool.WithRequest(t.Context()), json.RawMessage(args))
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.TrimSpace(args); !out.IsError && text != "" && !json.Valid([]byte(text)) {
				t.Fatalf("called with %q", args)
			}
			for _, r := range out.Text {
				if r < ' ' {
					t.Fatalf("%q is more than a line", out.Text)
				}
			}
		}
	})
}

// TestPlainSchemas: what is recognised without the validator is what that takes.
// The other form of the schema, which is not plain, asks it each time.
func TestPlainSchemas(t *testing.T) {
	t.Parallel()
	types := rapid.SampledFrom([]string{
		`{}`, `{"type":"string","title":"x"}`, `{"type":"integer"}`, `{"type":"number"}`, `{"type":["null","boolean"]}`,
		`{"type":"array"}`, `{"type":"object"}`, `{"enum":[1]}`, `true`, `false`,
	})
	values := rapid.SampledFrom([]string{
		`"s"`, `"\"}"`, `1`, `-1.0`, `1e2`, `true`, `null`, `[1,{"a":"]"}]`, `{ "b" : ["}"] }`, `[]`, ` {} `, "\t0\n",
	})
	names := rapid.SampledFrom([]string{"a", "b", "c", "ä"})
	rapid.Check(t, func(r *rapid.T) {
		members := func(of *rapid.Generator[string]) string {
			var out []string
			for range rapid.IntRange(0, 4).Draw(r, "n") {
				out = append(out, fmt.Sprintf("%q : %s", names.Draw(r, "name"), of.Draw(r, "value")))
			}
			return strings.Join(out, " , ")
		}
		required, err := json.Marshal(rapid.SliceOfDistinct(names, rapid.ID).Draw(r, "required"))
		if err != nil {
			r.Fatal(err)
		}
		schema := fmt.Sprintf(`"type":"object","properties":{%s},"required":%s,"additionalProperties":%t`,
			members(types), required, rapid.Bool().Draw(r, "open"))
		args := json.RawMessage(" { " + members(values) + " } ")
		ctx := t.Context()
		got, err := guard(t, withSchema("{"+schema+"}")).Call(ctx, args)
		want, errWant := guard(t, withSchema(`{"maxProperties":99,`+schema+"}")).Call(ctx, args)
		if err != nil || errWant != nil || got != want {
			r.Fatalf("%s\n%s\ngot %+v %v, want %+v %v", schema, args, got, err, want, errWant)
		}
	})
}

// TestArgumentsThatFitTheSchemaOnly: all of them are named, whoever decodes them,
// and a whole number is an integer however it is written.
func TestArgumentsThatFitTheSchemaOnly(t *testing.T) {
	t.Parallel()
	type in struct {
		When time.Time `json:"when,omitzero"`
		Then time.Time `json:"then,omitzero"`
		A    int       `json:"a,omitempty"`
		B    int8      `json:"b,omitempty"`
	}
	f := guard(t, tool.Func("f", "", func(_ context.Context, in in) (string, error) {
		return fmt.Sprint(in.A, in.B), nil
	}))
	for args, want := range map[string]string{
		`{"a":2.0,"b":3e0}`: "2 3",
		`{"when":"yesterday","then":"tomorrow","a":1` + strings.Repeat("0", 30) + `,"b":2.0}`: "Invalid argument: a (number 1" + strings.Repeat("0", 30) +
			" does not fit), then (expected a time like 2006-01-02T15:04:05Z), when (expected a time like 2006-01-02T15:04:05Z)",
	} {
		out, err := f.Call(request(t), json.RawMessage(args))
		if err != nil || out.Text != want {
			t.Errorf("%s: got %q, %v, want %q", args, out.Text, err, want)
		}
	}
}

// TestMoreThanOneValue: what is no JSON because something follows the arguments
// was decoded all the same, and "null," ended the program.
func TestMoreThanOneValue(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]tool.Tool{
		"struct": guard(t, tool.Func("f", "", func(context.Context, account) (string, error) { return "called", nil })),
		"map":    guard(t, tool.Func("f", "", func(context.Context, map[string]any) (string, error) { return "called", nil })),
	} {
		for _, args := range []string{
			`null,`, `nullnull`, `null{}`, "null\x00", anAccount + anAccount, anAccount + `]`, `{"account_id":"a","amount":2.0}}`,
		} {
			out, err := g.Call(request(t), json.RawMessage(args))
			if err != nil || out.Text != "The arguments are not valid JSON." {
				t.Errorf("%s: %q: got %+v, %v", name, args, out, err)
			}
		}
	}
}

// TestNumbersOutOfRange: the validator panicked for such a number, in the guard's
// own goroutine, and took 45 ms for one a little smaller.
func TestNumbersOutOfRange(t *testing.T) {
	t.Parallel()
	g := guard(t, withSchema(`{"properties":{"n":{"minimum":0},"l":{"uniqueItems":true}}}`))
	for args, want := range map[string]string{
		`{"n":1e1000001}`:                         "Invalid argument: n (number out of range)",
		`{"n":-1E-999999}`:                        "Invalid argument: n (number out of range)",
		`{"l":[1,{"a":2e+99999999999999999999}]}`: "Invalid argument: l.1.a (number out of range)",
		`{"n":1e308,"l":[5e-324,0.0,-1.5E+2]}`:    "",
	} {
		out, err := g.Call(request(t), json.RawMessage(args))
		if err != nil || out.Text != want {
			t.Errorf("%s: got %+v, %v, want %q", args, out, err, want)
		}
	}
}

// TestTagsThatCallMethods: a method that a validate tag calls is the tool's own,
// and must not end the goroutine of the guard.
func TestTagsThatCallMethods(t *testing.T) {
	t.Parallel()
	type input struct {
		M method `json:"m" validate:"validateFn"`
		S uuid   `json:"s" validate:"uuid"`
	}
	g := guard(t, tool.Func("t", "", func(context.Context, input) (string, error) { return "", nil }))
	for _, args := range []string{`{"m":{"exit":true},"s":0}`, `{"m":{},"s":1}`} {
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err = g.Call(request(t), json.RawMessage(args))
		}()
		<-done
		expectEscape(t, err, errcode.Internal, "tool_exited", "internal:t", 0)
	}
}

type method struct {
	Exit bool `json:"exit,omitempty"`
}

func (m method) Validate() error {
	if m.Exit {
		runtime.Goexit()
	}
	return nil
}

type uuid int

func (u uuid) String() string {
	if u == 1 {
		runtime.Goexit()
	}
	return "00000000-0000-0000-0000-000000000000"
}

// TestTagsThatPanic: a validate tag that makes no sense fails the call.
func TestTagsThatPanic(t *testing.T) {
	t.Parallel()
	type input struct {
		N int `json:"n" validate:"nonsense"`
	}
	g := guard(t, tool.Func("t", "", func(context.Context, input) (string, error) { return "", nil }))
	_, err := g.Call(request(t), json.RawMessage(`{"n":1}`))
	expectEscape(t, err, errcode.Internal, "panic", "internal:t", 0)
}

// even is a type that decodes itself.
type even int

func (e *even) UnmarshalJSON(raw []byte) error {
	var n int
	if err := json.Unmarshal(raw, &n); err != nil || n%2 != 0 {
		return fmt.Errorf("not even: %s", raw)
	}
	*e = even(n)
	return nil
}

// TestNestedArgumentsAreNamed: the path of what does not fit, also to a type that
// decodes itself and says nothing of where it is.
func TestNestedArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	type item struct {
		N    even      `json:"n,omitempty"`
		When time.Time `json:"when,omitzero"`
		B    int8      `json:"b,omitempty"`
	}
	type in struct {
		Items  []item          `json:"items,omitempty"`
		ByName map[string]item `json:"by_name,omitempty"`
		One    *item           `json:"one,omitempty"`
	}
	bare := tool.Func("f", "", func(context.Context, in) (string, error) { return "fine", nil })
	for args, want := range map[string]string{
		`{"items":[{"n":2},{"n":3}]}`:           "items.1.n (does not fit)",
		`{"by_name":{"x":{"when":"tomorrow"}}}`: "by_name.x.when (expected a time like 2006-01-02T15:04:05Z)",
		`{"one":{"b":300}}`:                     "one.b (number 300 does not fit)",
		`{"one":{"n":1},"items":[{"n":1}]}`:     "items.0.n (does not fit), one.n (does not fit)",
	} {
		_, err := bare.Call(t.Context(), json.RawMessage(args))
		if e := errcode.Default().Convert(err); e.Message() != "Invalid argument: "+want {
			t.Errorf("%s: got %q, want %q", args, e.Message(), want)
		}
	}
}
