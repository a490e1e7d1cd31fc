package agent_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/errcode"
)

type address struct {
	City string `json:"city" validate:"required"`
	Zip  int    `json:"zip"`
}

type embedded struct {
	Inherited int `json:"inherited"`
}

// selfDecoding counts offsets from the start of its own value.
type selfDecoding struct {
	N int `json:"n"`
}

func (s *selfDecoding) UnmarshalJSON(b []byte) error {
	var v struct {
		N int `json:"n"`
	}
	err := json.Unmarshal(b, &v)
	s.N = v.N
	return err
}

type order struct {
	embedded
	ID        string             `json:"id" validate:"required"`
	Count     int                `json:"count" validate:"gte=0"`
	Small     int8               `json:"small"`
	Level     uint8              `json:"level"`
	Positive  uint               `json:"positive"`
	Price     float64            `json:"price"`
	Open      bool               `json:"open"`
	Tags      []string           `json:"tags"`
	Raw       []byte             `json:"raw"`
	Address   *address           `json:"address"`
	Addresses []address          `json:"addresses" validate:"dive"`
	Grid      [][]int            `json:"grid"`
	ByName    map[string]address `json:"byName"`
	ByNumber  map[int]string     `json:"byNumber"`
	Host      netip.Addr         `json:"host"`
	At        time.Time          `json:"at"`
	Dotted    int                `json:"a.b"`
	Slashed   int                `json:"a/b~c"`
	Self      selfDecoding       `json:"self"`
	NoTag     int
	Hidden    string `json:"-" validate:"omitempty,len=3"`
}

func decode(data string, into any) error {
	var v any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		return err
	}
	return requestOf(a2a.NewTextPart("ignored"), a2a.NewDataPart(v), a2a.NewDataPart("a second one is ignored")).Decode(into)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var got order
	err := decode(`{"id":"x","count":2,"price":1e21,"tags":["a"],"addresses":[{"city":"Rome"}],"byName":{"home":{"zip":7}},
		"host":"::1","a.b":3,"NOTAG":4,"unknown":true,"inherited":5}`, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := order{
		embedded: embedded{5}, ID: "x", Count: 2, Price: 1e21, Tags: []string{"a"}, Addresses: []address{{City: "Rome"}},
		ByName: map[string]address{"home": {Zip: 7}}, Host: netip.MustParseAddr("::1"), Dotted: 3, NoTag: 4,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestDecodeIntoAnything(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		data string
		into any
		want string // as JSON
	}{
		{"a map", `{"a":1}`, &map[string]int{}, `{"a":1}`},
		{"a slice", `[1,2]`, &[]int{}, `[1,2]`},
		{"a scalar", `"x"`, new(string), `"x"`},
		{"a large integer", `9007199254740992`, new(int64), `9007199254740992`},
		{"anything", `{"a":[1]}`, new(any), `{"a":[1]}`},
		{"raw JSON", `{"a":[1]}`, new(json.RawMessage), `{"a":[1]}`},
		{"a time, which is a struct without tags", `"2026-01-02T03:04:05Z"`, new(time.Time), `"2026-01-02T03:04:05Z"`},
		{"a pointer to a pointer", `{"city":"Rome"}`, new(*address), `{"city":"Rome","zip":0}`},
		{"null leaves a nil pointer", `null`, new(*address), `null`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if err := decode(tc.data, tc.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tc.into)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %s, %v, want %s", got, err, tc.want)
			}
		})
	}
}

func TestDecodeWithoutDataPart(t *testing.T) {
	t.Parallel()
	err := requestOf(a2a.NewTextPart("no data")).Decode(&order{})
	e := mustConvert(t, err, "data_part_missing")
	want := []errcode.Violation{{Field: "/message/parts", Expected: "a data part", Message: "a data part is required"}}
	if diff := cmp.Diff(want, e.Violations()); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// mustConvert asserts that err is the client's fault for that reason.
func mustConvert(t *testing.T, err error, reason string) *errcode.Error {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if code := errcode.CodeOf(err); code != errcode.InvalidInput {
		t.Errorf("code: got %s, want %s", code, errcode.InvalidInput)
	}
	e := errcode.Default().Convert(err)
	if e.Reason() != reason {
		t.Errorf("reason: got %s, want %s", e.Reason(), reason)
	}
	return e
}

func TestDecodeMismatch(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		data     string
		field    string
		expected string
	}{
		{"no object", `"x"`, "", "an object"},
		{"an array for an object", `[{"id":"x"}]`, "", "an object"},
		{"a number for a string", `{"id":1}`, "/id", "a string"},
		{"an object for a string", `{"id":{"a":1}}`, "/id", "a string"},
		{"a string for an integer", `{"count":"1"}`, "/count", "an integer"},
		{"a fraction for an integer", `{"count":1.5}`, "/count", "an integer"},
		{"too large", `{"small":300}`, "/small", "an integer from -128 to 127"},
		{"too large and unsigned", `{"level":256}`, "/level", "an integer from 0 to 255"},
		{"negative", `{"positive":-1}`, "/positive", "an integer that is not negative"},
		{"a boolean for a number", `{"price":true}`, "/price", "a number"},
		{"a string for a boolean", `{"open":"yes"}`, "/open", "a boolean"},
		{"a scalar for an array", `{"tags":"a"}`, "/tags", "an array"},
		{"an element", `{"tags":["a","b",3]}`, "/tags/2", "a string"},
		{"a number for bytes", `{"raw":1}`, "/raw", "a string in base64"},
		{"a nested field", `{"id":"x","address":{"city":"Rome","zip":"x"}}`, "/address/zip", "an integer"},
		{"a scalar for a nested object", `{"address":1}`, "/address", "an object"},
		{"a field in an array", `{"addresses":[{"zip":1},{"city":"Rome","zip":{}}]}`, "/addresses/1/zip", "an integer"},
		{"an element that is no object", `{"addresses":[{"zip":1},[]]}`, "/addresses/1", "an object"},
		{"in an array of arrays", `{"grid":[[1],[],[2,3,"x"]]}`, "/grid/2/2", "an integer"},
		{"a field in a map", `{"byName":{"home":{"city":"Rome"},"work":{"city":1}}}`, "/byName/work/city", "a string"},
		{"a member of a map", `{"byName":{"home":1}}`, "/byName/home", "an object"},
		{"a key of a map", `{"byNumber":{"1":"a","x":"b"}}`, "/byNumber/x", "an integer"},
		{"a number for what is written as text", `{"host":1}`, "/host", "a string"},
		{"an inherited field", `{"inherited":"x"}`, "/inherited", "an integer"},
		{"a name with a dot", `{"a.b":"x"}`, "/a.b", "an integer"},
		{"a name with what a pointer escapes", `{"a/b~c":"x"}`, "/a~1b~0c", "an integer"},
		{"a field without a tag", `{"NoTag":"x"}`, "/NoTag", "an integer"},
		{"a name in other case", `{"COUNT":"x"}`, "/COUNT", "an integer"},
		{"in a type that decodes itself", `{"id":"x","self":{"n":"x"}}`, "/self/n", "an integer"},
		{"not the form of a text", `{"at":"yesterday"}`, "", "a value of the expected form"},
		{"not base64", `{"raw":"?"}`, "", "a value of the expected form"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := decode(tc.data, &order{})
			e := mustConvert(t, err, "data_part_mismatch")
			want := []errcode.Violation{{Field: tc.field, Expected: tc.expected, Message: "expected " + tc.expected}}
			if diff := cmp.Diff(want, e.Violations()); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), "order") || strings.Contains(err.Error(), "json:") {
				t.Errorf("the text tells of the program: %v", err)
			}
			if errors.Unwrap(err) == nil {
				t.Error("the cause is lost")
			}
		})
	}
}

// A pointer finds the value wherever the root is an array or a map.
func TestDecodeMismatchBelowOtherRoots(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, data, field string
		into              any
	}{
		{"array", `[1,2,"x"]`, "/2", &[]int{}},
		{"array of objects", `[{"zip":1},{"zip":"x"}]`, "/1/zip", &[]address{}},
		{"map", `{"a":1,"b":"x"}`, "/b", &map[string]int{}},
		{"scalar", `"x"`, "", new(int)},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := mustConvert(t, decode(tc.data, tc.into), "data_part_mismatch")
			if vs := e.Violations(); len(vs) != 1 || vs[0].Field != tc.field {
				t.Errorf("got %+v, want one at %q", vs, tc.field)
			}
		})
	}
}

func TestDecodeValidates(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		data string
		into any
		want []string
	}{
		{"several", `{"count":-1}`, &order{}, []string{"/id", "/count"}},
		{"nested", `{"id":"x","address":{"zip":1}}`, &order{}, []string{"/address/city"}},
		{"in an array", `{"id":"x","addresses":[{"city":"Rome"},{"zip":1}]}`, &order{}, []string{"/addresses/1/city"}},
		{"through a pointer", `{"zip":1}`, new(*address), []string{"/city"}},
		{"through pointers", `{"zip":1}`, new(**address), []string{"/city"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := mustConvert(t, decode(tc.data, tc.into), "validation_errors")
			got := []string{}
			for _, v := range e.Violations() {
				got = append(got, v.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

// A target that nothing can be decoded into is not the client's fault.
func TestDecodeIntoNoPointer(t *testing.T) {
	t.Parallel()
	for name, into := range map[string]any{"nil": nil, "no pointer": order{}, "nil pointer": (*order)(nil)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{decode(`{"id":"x"}`, into), requestOf().Decode(into)} {
				if err == nil || errcode.CodeOf(err) != errcode.Internal || !strings.Contains(err.Error(), "pointer") {
					t.Errorf("got %v (%s), want an internal error that asks for a pointer", err, errcode.CodeOf(err))
				}
			}
		})
	}
}

func TestDecodeIntoWhatJSONCannotExpress(t *testing.T) {
	t.Parallel()
	var into struct {
		Ch chan int `json:"ch"`
	}
	e := mustConvert(t, decode(`{"ch":1}`, &into), "data_part_mismatch")
	if vs := e.Violations(); len(vs) != 1 || vs[0].Field != "/ch" || vs[0].Expected != "a value of the expected form" {
		t.Errorf("got %+v", vs)
	}
	err := requestOf(a2a.NewDataPart(make(chan int))).Decode(&into)
	_ = mustConvert(t, err, "data_part_mismatch")
}
