package crash

import "syscall"

// onItsOwn gives a process a session of its own, as a supervisor would: an interrupt of the harness is not for it, and
// systems that share the processor between sessions do not count all processes of a schedule as one. It is killed when
// the one that started it is gone.
func onItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
