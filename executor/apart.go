package executor

import "errors"

var errExited = errors.New("code of the user's ended the goroutine of a request (runtime.Goexit)")

// apart calls f in a goroutine of its own and waits for it. It reports whether f
// returned: code of the user's that ends its goroutine (runtime.Goexit) ends no
// more than that, where it would take the answer of a request with it. A panic
// is f's to recover from.
func apart(f func()) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		returned = true
	}()
	<-done
	return returned
}
