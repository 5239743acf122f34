//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process returns the processor time of this process, 0 if unknown.
func Process() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
