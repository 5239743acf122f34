//go:build !unix

package cputime

import "time"

// Process is unknown on this system.
func Process() time.Duration { return 0 }
