//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process is the processor time that the process has used.
func Process() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
