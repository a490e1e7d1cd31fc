package executor

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonNames gives a message of HTTP+JSON 0.3 in the field names of the protocol
// buffers ("request", "message_id") those of JSON ("message", "messageId"), and
// anything else back as it is. The JSON mapping of protocol buffers has parsers
// accept both, and clients send either; the host's binding knows the second alone.
func jsonNames(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var req map[string]any
	if dec.Decode(&req) != nil || dec.More() || req["request"] == nil || req["message"] != nil {
		return body
	}
	req["message"] = req["request"]
	delete(req, "request")
	out, err := json.Marshal(inJSONNames(req))
	if err != nil {
		return body
	}
	return out
}

// inJSONNames renames the fields of a message: what its author put into data
// and metadata is no part of it.
func inJSONNames(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = inJSONNames(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name != "data" && name != "metadata" {
				value = inJSONNames(value)
			}
			out[camelCase(name)] = value
		}
		return out
	}
	return v
}

// camelCase gives a protocol buffers field's name in JSON.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
