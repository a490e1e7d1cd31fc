package schema

import (
	"encoding/json"
	"net/url"
	"strconv"
)

// FromQuery gives the parameters of a URL in the form that [Decode] gives JSON
// (A2A v1.0 section 11.5): what reads as a number where the name is one of a
// number is one, so for booleans; anything else is left a string, for the rules
// to refuse.
func FromQuery(q url.Values) map[string]any {
	out := map[string]any{}
	for k := range q {
		v := q.Get(k)
		if v == "" {
			continue // not set
		}
		out[k] = queryValue(k, v)
	}
	return out
}

func queryValue(key, value string) any {
	switch key {
	case "pageSize", "historyLength":
		if _, err := strconv.ParseInt(value, 10, 64); err == nil {
			return json.Number(value)
		}
	case "includeArtifacts":
		if b, err := strconv.ParseBool(value); err == nil {
			return b
		}
	}
	return value
}
