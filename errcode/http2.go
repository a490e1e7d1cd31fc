package errcode

import (
	"reflect"
	"strings"
)

// http2Shape recognises the errors with which a stream or a connection of HTTP/2 ends, by the name of
// their type. The ones of the standard library cannot be named, and those of golang.org/x/net are
// not worth the import.
func http2Shape(t reflect.Type) matcher {
	named := t
	if t.Kind() == reflect.Pointer {
		named = t.Elem()
	}
	pkg := named.PkgPath()
	if pkg != "net/http" && !strings.HasPrefix(pkg, "net/http/internal") && !strings.HasSuffix(pkg, "golang.org/x/net/http2") {
		return nil
	}
	switch strings.TrimPrefix(named.Name(), "http2") {
	case "StreamError", "GoAwayError", "ConnectionError", "connError":
		return func(error) (Class, bool) { return static(UpstreamUnavailable, "connection_closed"), true }
	default:
		return nil
	}
}
