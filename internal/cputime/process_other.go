//go:build !unix

package cputime

import "time"

// Process returns 0: the processor time is unknown on this system.
func Process() time.Duration { return 0 }
