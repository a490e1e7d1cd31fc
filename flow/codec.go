package flow

import (
	"encoding/json"
	"runtime/debug"
	"strconv"

	"github.com/a2aexec/a2aexec/errcode"
)

// Codec turns states and outputs into bytes and back. Encode gets a value or a
// pointer to one, Decode a pointer to where the value belongs. It must be safe
// for concurrent use and keep nothing it is given nor what it returned.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(data []byte, v any) error
}

type jsonCodec struct{}

// Encode implements Codec.
func (jsonCodec) Encode(v any) ([]byte, error) { return json.Marshal(v) }

// Decode implements Codec.
func (jsonCodec) Decode(data []byte, v any) error { return json.Unmarshal(data, v) }

// encode is c.Encode with panics contained.
func encode(c Codec, v any) (data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			data, err = nil, recovered(p)
		}
	}()
	return c.Encode(v)
}

// encodeTo is encode that may use the space of b, which is empty.
func encodeTo(b []byte, c Codec, v any) (data []byte, err error) {
	if _, ok := c.(jsonCodec); ok {
		switch v := v.(type) { // the commonest small outputs need no reflection
		case int:
			return strconv.AppendInt(b, int64(v), 10), nil
		case bool:
			return strconv.AppendBool(b, v), nil
		}
	}
	if data, err = encode(c, v); err != nil || len(data) == 0 {
		return data, err
	}
	return append(b, data...), nil
}

// jsonText encodes one value after the other into the same bytes.
type jsonText struct {
	text []byte
	enc  *json.Encoder
}

// Write implements io.Writer.
func (t *jsonText) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	return len(p), nil
}

// encode returns v as JSON, valid until the next call.
func (t *jsonText) encode(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = recovered(p)
		}
	}()
	if t.enc == nil {
		t.enc = json.NewEncoder(t)
	}
	t.text = t.text[:0]
	if err := t.enc.Encode(v); err != nil {
		return err
	}
	t.text = t.text[:len(t.text)-1] // the newline
	return nil
}

// contain runs code of the user that is not a node.
func contain(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return fn()
}

// recovered makes an error of what recover returned, in the deferred function.
func recovered(v any) error { return errcode.NewPanicError(v, debug.Stack()) }
