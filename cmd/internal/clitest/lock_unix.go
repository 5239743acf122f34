//go:build unix

package clitest

import (
	"os"
	"syscall"
)

// lock waits until no other process has the lock of a folder. Closing the folder unlocks it.
func lock(folder *os.File) error { return syscall.Flock(int(folder.Fd()), syscall.LOCK_EX) }
