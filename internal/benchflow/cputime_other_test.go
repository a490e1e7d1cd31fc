//go:build !unix

package benchflow_test

import "time"

var started = time.Now()

// processorTime is the time that has passed, which is the best there is here.
func processorTime() time.Duration { return time.Since(started) }
