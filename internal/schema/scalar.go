package schema

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aexec/a2aexec/internal/plain"
)

func text(c *checker, v any) {
	if _, ok := v.(string); !ok {
		c.fail("expected a string, got %s", typeOf(v))
	}
}

// name is a text that says something.
func name(c *checker, v any) {
	s, ok := v.(string)
	switch {
	case !ok:
		c.fail("expected a string, got %s", typeOf(v))
	case s == "":
		c.fail("must not be empty")
	}
}

func flag(c *checker, v any) {
	if _, ok := v.(bool); !ok {
		c.fail("expected true or false, got %s", typeOf(v))
	}
}

// whole is an integer between least and most. The JSON form of protocol buffers
// takes 7.0, 70e-1 and "7" for 7.
func whole(least, most int64) Rule {
	return func(c *checker, v any) {
		n, isNumber := v.(json.Number)
		s, isText := v.(string)
		if isText && isNumeral(s) {
			n, isNumber = json.Number(s), true
		}
		if !isNumber {
			c.fail("expected an integer, got %s", typeOf(v))
			return
		}
		i, fraction, err := integer(string(n))
		switch {
		case fraction:
			c.fail("expected an integer, got %s", shorten(string(n)))
		case err == nil && least <= i && i <= most:
			if written := strconv.FormatInt(i, 10); isText || written != string(n) {
				c.usual = json.Number(written)
			}
		case most == math.MaxInt32:
			c.fail("expected an integer of %d or more, got %s", least, shorten(string(n)))
		default:
			c.fail("expected an integer between %d and %d, got %s", least, most, shorten(string(n)))
		}
	}
}

// isNumeral reports whether a text is a number as JSON writes it.
func isNumeral(s string) bool {
	return s != "" && strings.Trim(s, "+-.0123456789eE") == "" && json.Valid([]byte(s))
}

// integer reads a number of JSON. Where it is none of 64 bits it has a fraction,
// or there is an error.
func integer(s string) (i int64, fraction bool, err error) {
	if i, err = strconv.ParseInt(s, 10, 64); err == nil {
		return i, false, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > 1<<53 {
		return 0, false, strconv.ErrRange
	}
	return int64(f), f != math.Trunc(f), nil
}

// oneOf is a string of a closed set.
func oneOf(values ...string) Rule {
	return func(c *checker, v any) {
		s, ok := v.(string)
		switch {
		case !ok:
			c.fail("expected a string, got %s", typeOf(v))
		case !slices.Contains(values, s):
			c.fail("unknown value %q; expected one of %s", shorten(s), strings.Join(values, ", "))
		}
	}
}

func anything(*checker, any) {}

// Free takes any JSON, as long as its numbers are some, and it is not nested
// deeper than every client can read when it comes back in a task's history.
func Free(c *checker, v any) { c.free(v, 0) }

func (c *checker) free(v any, depth int) {
	if depth > plain.MaxDepth {
		c.fail("nested deeper than %d levels", plain.MaxDepth)
		return
	}
	switch v := v.(type) {
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			c.fail("expected a number that fits 64 bits, got %s", shorten(string(v)))
		}
	case []any:
		for i, e := range v {
			c.below(strconv.Itoa(i), e, depth)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			c.below(k, v[k], depth)
		}
	}
}

func (c *checker) below(name string, v any, depth int) {
	c.path = append(c.path, name)
	c.free(v, depth+1)
	c.path = c.path[:len(c.path)-1]
}

// freeObject is an object of the client's own.
func freeObject(c *checker, v any) {
	if _, ok := v.(map[string]any); !ok {
		c.fail("expected an object, got %s", typeOf(v))
		return
	}
	Free(c, v)
}

func timestamp(c *checker, v any) {
	s, ok := v.(string)
	if !ok {
		c.fail("expected a timestamp such as \"2025-11-09T10:30:00Z\", got %s", typeOf(v))
		return
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		c.fail("expected a timestamp such as \"2025-11-09T10:30:00Z\", got %q", shorten(s))
	}
}

// base64Text is bytes. The JSON form of protocol buffers takes base64 of either
// alphabet, with and without padding.
func base64Text(c *checker, v any) {
	s, ok := v.(string)
	if !ok {
		c.fail("expected base64 text, got %s", typeOf(v))
		return
	}
	b, err := decode64(s)
	if err != nil {
		c.fail("expected base64 text")
		return
	}
	if usual := base64.StdEncoding.EncodeToString(b); usual != s {
		c.usual = usual
	}
}

func decode64(s string) ([]byte, error) {
	enc := base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.URLEncoding
	}
	if !strings.HasSuffix(s, "=") {
		enc = enc.WithPadding(base64.NoPadding)
	}
	return enc.DecodeString(s)
}
