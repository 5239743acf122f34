//go:build !linux

package crash

import "syscall"

// onItsOwn needs Linux; elsewhere a killed run leaves its processes behind.
func onItsOwn() *syscall.SysProcAttr { return nil }
