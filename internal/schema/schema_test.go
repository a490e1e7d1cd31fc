package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/a2aexec/a2aexec/internal/schema"
)

func found(t *testing.T, r schema.Rule, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, v := range schema.Check(r, v) {
		out[v.Field] = v.Message
	}
	return out
}

func decoded(t *testing.T, s string) any {
	t.Helper()
	v, _, err := schema.Decode([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestDecode(t *testing.T) {
	t.Parallel()
	v, twice, err := schema.Decode([]byte(`{"a":[1,{"b":null,"b":1e3}],"~/":{"x":"}]\"\\","x":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a":  []any{json.Number("1"), map[string]any{"b": json.Number("1e3")}},
		"~/": map[string]any{"x": true},
	}
	if diff := cmp.Diff(want, v) + cmp.Diff([]string{"/a/1/b", "/~0~1/x"}, twice); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]error{
		deep(schema.MaxDepth): nil, deep(schema.MaxDepth + 1): schema.ErrDepth, "\"\xff\"": schema.ErrSyntax, "": schema.ErrSyntax,
		"{} {}": schema.ErrSyntax, "[1,]": schema.ErrSyntax, `"` + strings.Repeat("[", 1000) + `"`: nil,
	} {
		if _, _, err := schema.Decode([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%.20s: got %v, want %v", text, err, want)
		}
	}
}

// FuzzDecode: what it takes, encoding/json takes, with the same value.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9"],"b":{"c":null}}`, `[]`, `"\ud800"`, `1e999`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, _, err := schema.Decode(b)
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q: encoding/json says %v", b, err)
		}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("%q (-want +got):\n%s", b, diff)
		}
		for _, r := range []schema.Rule{schema.SendMessage, schema.SendMessage03, schema.ListTasks, schema.CreatePush, schema.Envelope} {
			schema.Check(r, v)
		}
	})
}

func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	parts := strings.Repeat(`{},`, 1000) + `{}`
	got := schema.Check(schema.SendMessage, decoded(t, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[`+parts+`]}}`))
	if len(got) != 100 {
		t.Errorf("got %d violations, want 100", len(got))
	}
	long := strings.Repeat("é", 100)
	for _, v := range schema.Check(schema.ListTasks, map[string]any{"status": long}) {
		if strings.Contains(v.Message, strings.Repeat("é", 30)) || strings.ContainsRune(v.Message, '\uFFFD') {
			t.Errorf("the answer repeats what was sent: %q", v.Message)
		}
	}
}

func TestPushConfigs(t *testing.T) {
	t.Parallel()
	got := found(t, schema.CreatePush, decoded(t, `{"url":"ftp://x","authentication":{"credentials":1}}`))
	want := map[string]string{
		"/taskId": "is required", "/url": "expected an absolute http or https URL",
		"/authentication/scheme": "is required", "/authentication/credentials": "expected a string, got a number",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	old := found(t, schema.CreatePush03, decoded(t, `{"taskId":"t","pushNotificationConfig":{"url":"https://x","authentication":{"schemes":"Bearer"}}}`))
	if diff := cmp.Diff(map[string]string{"/pushNotificationConfig/authentication/schemes": "expected an array, got a string"}, old); diff != "" {
		t.Errorf("0.3 (-want +got):\n%s", diff)
	}
}

// TestPushConfigsThatCannotBeSent: they were taken, and never sent or never
// found again.
func TestPushConfigsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for id, want := range map[string]string{
		"": "", "a.b": "", "ü 1?#%": "", ":cancelled": "", long[1:]: "",
		long: "at most 1024 bytes", ".": "no URL", "..": "no URL", "a/b": "slashes", `a\u0000`: "control", `a\u007f`: "control",
		"x:cancel": "", ":subscribe": "",
	} {
		for rule, doc := range map[*schema.Rule]string{
			&schema.CreatePush:    `{"taskId":"t","url":"https://x","id":"` + id + `"}`,
			&schema.CreatePush03:  `{"taskId":"t","pushNotificationConfig":{"url":"https://x","id":"` + id + `"}}`,
			&schema.SendMessage:   `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"taskPushNotificationConfig":{"url":"https://x","id":"` + id + `"}}}`,
			&schema.SendMessage03: `{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"pushNotificationConfig":{"url":"https://x","id":"` + id + `"}}}`,
		} {
			got := found(t, *rule, decoded(t, doc))
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(fmt.Sprint(got), want)) {
				t.Errorf("%.20q: got %v, want %q", id, got, want)
			}
		}
	}
	got := found(t, schema.CreatePush, decoded(t, `{"taskId":"t","url":"https://x","token":"a\nb","authentication":{"scheme":"My Scheme","credentials":"a\r\nX: y"}}`))
	want := map[string]string{
		"/token":                      "must not contain control characters, for it is sent in an HTTP header",
		"/authentication/scheme":      `expected the name of an HTTP authentication scheme such as Bearer, got "My Scheme"`,
		"/authentication/credentials": "must not contain control characters, for it is sent in an HTTP header",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for auth, want := range map[string]string{
		`{"schemes":["ApiKey"],"credentials":"x"}`: "", `{"schemes":[]}`: "",
		`{"schemes":[],"credentials":"x"}`: "at least one scheme is required for the credentials",
	} {
		got := found(t, schema.CreatePush03, decoded(t, `{"taskId":"t","pushNotificationConfig":{"url":"https://x","authentication":`+auth+`}}`))
		if got["/pushNotificationConfig/authentication/schemes"] != want || want == "" && len(got) > 0 {
			t.Errorf("%s: got %v", auth, got)
		}
	}
}

func TestOldParts(t *testing.T) {
	t.Parallel()
	got := found(t, schema.SendMessage03, decoded(t, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[
		{"kind":"text"},{"kind":"data","data":[]},{"kind":"file","file":{}},{"kind":"file","file":{"bytes":"*","uri":"u"}},{"kind":"x"},{},7,
		{"kind":"text","text":"x","KIND":"file"}]}}`))
	want := map[string]string{
		"/message/role": `unknown value "ROLE_USER"; expected one of user, agent`, "/message/parts/0/text": "is required",
		"/message/parts/1/data": "expected an object, got an array", "/message/parts/2/file": "expected one of bytes and uri",
		"/message/parts/3/file":       "expected one of bytes and uri, got bytes and uri",
		"/message/parts/3/file/bytes": "expected base64 text",
		"/message/parts/4/kind":       `unknown value "x"; expected one of text, file, data`, "/message/parts/5/kind": "is required",
		"/message/parts/6": "expected an object, got a number", "/message/parts/7/KIND": `unknown field; did you mean "kind"?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFromProto: a message checks as its JSON does.
func TestFromProto(t *testing.T) {
	t.Parallel()
	data, err := structpb.NewStruct(map[string]any{"n": 1.5, "l": []any{"x", true, nil}})
	if err != nil {
		t.Fatal(err)
	}
	n := int32(-1)
	m := &a2apb.SendMessageRequest{
		Message: &a2apb.Message{
			MessageId: "m", Role: a2apb.Role_ROLE_USER, Metadata: data, Extensions: []string{"https://x"},
			Parts: []*a2apb.Part{{Content: &a2apb.Part_Text{Text: ""}}, {Content: &a2apb.Part_Data{Data: structpb.NewStructValue(data)}}},
		},
		Configuration: &a2apb.SendMessageConfiguration{HistoryLength: &n, ReturnImmediately: true},
	}
	raw, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	tree := schema.FromProto(m.ProtoReflect())
	if diff := cmp.Diff(decoded(t, string(raw)), any(tree)); diff != "" {
		t.Errorf("(-JSON +message):\n%s", diff)
	}
	if got := found(t, schema.SendMessage, tree); got["/configuration/historyLength"] == "" || len(got) != 1 {
		t.Errorf("got %v", got)
	}
	m.Message.Parts[1].Content = &a2apb.Part_Data{Data: structpb.NewNumberValue(math.NaN())}
	m.Message.Role = 99
	got := found(t, schema.SendMessage, schema.FromProto(m.ProtoReflect()))
	if got["/message/parts/1/data"] == "" || got["/message/role"] == "" {
		t.Errorf("NaN and an unknown role: got %v", got)
	}
	l := &a2apb.ListTasksRequest{StatusTimestampAfter: &timestamppb.Timestamp{Seconds: math.MaxInt64}, Status: a2apb.TaskState_TASK_STATE_WORKING}
	if got := found(t, schema.ListTasks, schema.FromProto(l.ProtoReflect())); got["/statusTimestampAfter"] == "" || len(got) != 1 {
		t.Errorf("a time out of range: got %v", got)
	}
}

func TestFromQuery(t *testing.T) {
	t.Parallel()
	got := schema.FromQuery(url.Values{"pageSize": {"7"}, "historyLength": {"x"}, "includeArtifacts": {"true"}, "contextId": {"7"}, "status": {""}})
	want := map[string]any{"pageSize": json.Number("7"), "historyLength": "x", "includeArtifacts": true, "contextId": "7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
