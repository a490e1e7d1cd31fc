package schema

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// FromProto gives a message in the form that [Decode] gives its JSON: its
// fields under their JSON names, those that are not set left out. Bytes, which
// need no check, are an empty string, or that of a zero byte.
func FromProto(m protoreflect.Message) map[string]any {
	out := map[string]any{}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		out[fd.JSONName()] = fieldValue(fd, v)
		return true
	})
	return out
}

// MeasureProto tells how deep a message would be nested in JSON, one level more
// than [MaxDepth] where it is deeper than that, and about how many values that
// would have.
func MeasureProto(m protoreflect.Message) (deepest, values int) {
	w := &weigher{}
	w.message(m, 0)
	return w.deepest, w.values
}

type weigher struct{ deepest, values int }

func (w *weigher) message(m protoreflect.Message, depth int) {
	w.values++
	if m.Descriptor().FullName() != "google.protobuf.Value" { // which is what it holds
		depth++
	}
	w.deepest = max(w.deepest, depth)
	if depth > MaxDepth {
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Kind() == protoreflect.MessageKind:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				w.message(v.Message(), depth)
				return true
			})
		case fd.IsList() && fd.Kind() == protoreflect.MessageKind:
			w.list(m, v.List(), depth)
		case !fd.IsList() && !fd.IsMap() && fd.Kind() == protoreflect.MessageKind:
			w.message(v.Message(), depth)
		}
		return true
	})
}

// list is for the elements of an array, which a ListValue is by itself.
func (w *weigher) list(m protoreflect.Message, l protoreflect.List, depth int) {
	if m.Descriptor().FullName() != "google.protobuf.ListValue" {
		depth++
	}
	for i := range l.Len() {
		w.message(l.Get(i).Message(), depth)
	}
}

func fieldValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) any {
	if !fd.IsList() {
		return scalar(fd, v)
	}
	elements := make([]any, v.List().Len())
	for i := range elements {
		elements[i] = scalar(fd, v.List().Get(i))
	}
	return elements
}

func scalar(fd protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		return messageValue(v.Message())
	case protoreflect.EnumKind:
		if d := fd.Enum().Values().ByNumber(v.Enum()); d != nil {
			return string(d.Name())
		}
		return strconv.Itoa(int(v.Enum()))
	case protoreflect.StringKind:
		return v.String()
	case protoreflect.BytesKind:
		if len(v.Bytes()) > 0 {
			return "AA=="
		}
		return ""
	case protoreflect.BoolKind:
		return v.Bool()
	default:
		return json.Number(v.String())
	}
}

func messageValue(m protoreflect.Message) any {
	switch w := m.Interface().(type) {
	case *structpb.Struct:
		return plainStruct(w)
	case *structpb.Value:
		return plainValue(w)
	case *timestamppb.Timestamp:
		if w.CheckValid() != nil {
			return "out of range"
		}
		return w.AsTime().Format(time.RFC3339Nano)
	default:
		return FromProto(m)
	}
}

func plainStruct(s *structpb.Struct) map[string]any {
	out := make(map[string]any, len(s.GetFields()))
	for k, v := range s.GetFields() {
		out[k] = plainValue(v)
	}
	return out
}

func plainValue(v *structpb.Value) any {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return plainStruct(k.StructValue)
	case *structpb.Value_ListValue:
		out := make([]any, len(k.ListValue.GetValues()))
		for i, e := range k.ListValue.GetValues() {
			out[i] = plainValue(e)
		}
		return out
	case *structpb.Value_NumberValue:
		if math.IsNaN(k.NumberValue) || math.IsInf(k.NumberValue, 0) {
			return json.Number("NaN")
		}
		return json.Number(strconv.FormatFloat(k.NumberValue, 'g', -1, 64))
	case *structpb.Value_StringValue:
		return k.StringValue
	case *structpb.Value_BoolValue:
		return k.BoolValue
	default:
		return nil
	}
}
