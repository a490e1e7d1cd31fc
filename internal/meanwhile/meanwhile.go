// Package meanwhile lets the checks of a store read while they write.
package meanwhile

import (
	"errors"
	"runtime"
	"sync"
)

// Read calls write, and read again and again in a goroutine of its own: once before
// write begins, for a write that is done before anybody reads proves nothing, and until it
// is over or a read fails. It returns the errors of both, and leaves no goroutine.
// Neither may panic.
func Read(read, write func() error) error {
	reading, stop := make(chan struct{}), make(chan struct{})
	var readErr error
	var wg sync.WaitGroup
	wg.Go(func() { readErr = readOn(read, reading, stop) })
	<-reading
	err := write()
	close(stop)
	wg.Wait()
	return errors.Join(err, readErr)
}

// readOn reads until it is told to stop or a read fails. It closes reading when it
// has read for the first time.
func readOn(read func() error, reading, stop chan struct{}) error {
	err := read()
	close(reading)
	for err == nil {
		select {
		case <-stop:
			return nil
		default:
			runtime.Gosched() // on one processor it would keep the writer waiting
			err = read()
		}
	}
	return err
}
