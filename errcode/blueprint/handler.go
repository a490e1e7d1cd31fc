package blueprint

import (
	"net/http"
	"runtime/debug"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/internal/errtree"
)

// Handler makes a function that may fail into an http.Handler: an error is answered as by
// [WriteError], a panic as INTERNAL_ERROR with a fixed text.
//
// When the function fails after it has begun to answer, nothing is added, only logged; after a
// panic the connection is then aborted as well, so that the client does not take half an answer
// for a whole one. A panic with http.ErrAbortHandler is left to the server. The function's
// ResponseWriter works with http.ResponseController and can be flushed and hijacked if the
// server's can.
func Handler(f func(w http.ResponseWriter, r *http.Request) error, opts ...Option) http.Handler {
	c := newConfig(opts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tracker{ResponseWriter: w}
		aborts, err := call(f, t, r)
		if aborts {
			abort()
		}
		half := t.begun
		c.write(t, r, err)
		if _, panicked := errtree.As[*errcode.PanicError](err); panicked && half {
			abort()
		}
	})
}

// call contains a panic of f; aborts is set if that asked the server to drop the connection.
func call(f func(http.ResponseWriter, *http.Request) error, w http.ResponseWriter, r *http.Request) (aborts bool, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		aborts = v == any(http.ErrAbortHandler)
		err = errcode.NewPanicError(v, debug.Stack())
	}()
	return false, f(w, r)
}

// abort makes the server drop the connection.
func abort() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // this is how net/http is told so
}
