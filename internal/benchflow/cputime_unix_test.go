//go:build unix

package benchflow_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has used, the garbage collector included.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
