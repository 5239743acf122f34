package crash

import "syscall"

// ownSession gives a process its own session, as a supervisor would. An interrupt of the harness
// does not reach it, and systems that share the processor among sessions do not count all processes
// of a schedule as one. It is killed when its parent dies.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
