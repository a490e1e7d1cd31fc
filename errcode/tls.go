package errcode

import "reflect"

// tlsShape recognises the errors of a TLS handshake by their package. That covers the
// certificates, which another attempt does not make any better. What only wraps a network error
// is left to that.
func tlsShape(t reflect.Type) matcher {
	named := t
	if t.Kind() == reflect.Pointer {
		named = t.Elem()
	}
	if pkg := named.PkgPath(); pkg != "crypto/tls" && pkg != "crypto/x509" || t.Implements(timeoutType) {
		return nil
	}
	class := Class{Code: UpstreamUnavailable}
	if named.Name() == "alert" {
		class.Reason = "tls_alert"
	}
	return func(error) (Class, bool) { return class, true }
}
