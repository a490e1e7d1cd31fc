package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checker checks arguments against a tool's schema. The zero value takes any
// object. It is safe for concurrent use.
type checker struct {
	schema *jsonschema.Schema
	quick  *quick // nil for a schema that is not plain
}

// schemaURL names the schema in the compiler, which wants an absolute address.
const schemaURL = "urn:a2aexec:tool"

func newChecker(schema json.RawMessage) (checker, error) {
	if len(schema) == 0 {
		return checker{}, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return checker{}, fmt.Errorf("decode input schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return checker{}, fmt.Errorf("compile input schema: %w", err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return checker{}, fmt.Errorf("compile input schema: %w", err)
	}
	return checker{compiled, newQuick(doc)}, nil
}

// noLoader keeps a schema, which may come from elsewhere, from reading files.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references to other documents are not followed")
}

var emptyObject = json.RawMessage("{}")

// orEmptyObject makes an object of no arguments.
func orEmptyObject(args json.RawMessage) json.RawMessage {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		return emptyObject
	}
	return args
}

// check tells what is wrong with arguments, "" if nothing is.
func (c checker) check(args json.RawMessage) (fault string) {
	if isObject(args) && (c.schema == nil || c.quick.fits(args)) {
		return ""
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return "The arguments are not valid JSON."
	}
	if _, ok := v.(map[string]any); !ok {
		return "The arguments must be a JSON object."
	}
	if c.schema == nil {
		return ""
	}
	var f faults
	if f.numbers(v, nil); len(f.invalid) > 0 {
		return f.text()
	}
	if err := c.schema.Validate(v); err != nil {
		return faultText(err)
	}
	return ""
}
