//go:build !linux

package hostile

import (
	"os/exec"
	"time"
)

// The limits of this package need Linux. Elsewhere mutants are tried without a limit on the address
// space, and wall time replaces processor time.

func limitAddressSpace(int64) error { return nil }

func endWithParent(*exec.Cmd) {}

var started = time.Now()

func processorTime() time.Duration { return time.Since(started) }
