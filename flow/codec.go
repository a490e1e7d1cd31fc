package flow

import (
	"encoding/json"
	"runtime/debug"
	"strconv"

	"github.com/a2aexec/a2aexec/errcode"
)

// Codec turns states and outputs into bytes and back. Encode gets a value or a
// pointer to one, Decode a pointer to where the value belongs. It must be safe
// for concurrent use and keep nothing it is given.
type Codec interface {
	Encode(v any) ([]byte, error)
	Decode(data []byte, v any) error
}

type jsonCodec struct{}

// Encode implements Codec. The commonest small outputs need no reflection.
func (jsonCodec) Encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(nil, int64(v), 10), nil
	case bool:
		return strconv.AppendBool(nil, v), nil
	default:
		return json.Marshal(v)
	}
}

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
