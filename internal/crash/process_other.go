//go:build !linux

package crash

import "syscall"

// ownSession has an effect only on Linux; elsewhere a killed run leaves its processes behind.
func ownSession() *syscall.SysProcAttr { return nil }
