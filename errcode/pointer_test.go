package errcode_test

import (
	"testing"

	"github.com/go-playground/validator/v10"

	"github.com/a2aexec/a2aexec/errcode"
)

type box[T any] struct {
	Mail T `validate:"email"`
}

// Validator says where a value is in a notation of its own; these came out as wrong JSON Pointers.
func TestPointersOfValidator(t *testing.T) {
	t.Parallel()
	type inner struct {
		Mail string `validate:"email"`
	}
	type order struct {
		Texts map[string]string   `validate:"omitempty,dive,email"`
		Lists [][]string          `validate:"omitempty,dive,dive,email"`
		Inner map[string]inner    `validate:"omitempty,dive"`
		Deep  map[string][]string `validate:"omitempty,dive,dive,email"`
	}
	v := validator.New(validator.WithRequiredStructEnabled())
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"Var", v.Var("x", "email"), ""},
		{"Var with dive", v.Var([]string{"x"}, "dive,email"), "/0"},
		{"Var with a map", v.Var(map[string]string{"a.b": "x"}, "dive,email"), "/a.b"},
		{"Var with structs", v.Var([]inner{{"x"}}, "dive"), "/0/Mail"},
		{"index", v.Struct(order{Lists: [][]string{{"a@b.com", "x"}}}), "/Lists/0/1"},
		{"key with a dot", v.Struct(order{Texts: map[string]string{"a.b": "x"}}), "/Texts/a.b"},
		{"key with brackets", v.Struct(order{Texts: map[string]string{"a[0]b": "x"}}), "/Texts/a[0]b"},
		{"key with an opening bracket", v.Struct(order{Texts: map[string]string{"a[": "x"}}), "/Texts/a["},
		{"key with a slash and a tilde", v.Struct(order{Texts: map[string]string{"a/b~c": "x"}}), "/Texts/a~1b~0c"},
		{"empty key", v.Struct(order{Texts: map[string]string{"": "x"}}), "/Texts/"},
		{"struct in a map", v.Struct(order{Inner: map[string]inner{"a.b": {"x"}}}), "/Inner/a.b/Mail"},
		{"list in a map", v.Struct(order{Deep: map[string][]string{"a.b": {"x"}}}), "/Deep/a.b/0"},
		{"generic struct", v.Struct(box[string]{"x"}), "/Mail"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			vs := errcode.Default().Convert(tc.err).Violations()
			if len(vs) != 1 || vs[0].Field != tc.want {
				t.Errorf("%+v, want %q", vs, tc.want)
			}
		})
	}
}
