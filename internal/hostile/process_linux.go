package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// limitAddressSpace limits how much more this process may map than it already has. Under the race
// detector, whose shadow grows with the live memory, so no limit is set.
func limitAddressSpace(more int64) error {
	if RaceDetector {
		return nil
	}
	pages, err := mappedPages()
	if err != nil {
		return err
	}
	limit := uint64(pages*int64(os.Getpagesize()) + more)
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit})
}

// mappedPages is the size of this process's address space in pages.
func mappedPages() (pages int64, err error) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fscan(bytes.NewReader(raw), &pages)
	return pages, err
}

// endWithParent makes the command's process end with the thread that starts it.
func endWithParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// processorTime is the processor time of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("hostile: " + err.Error()) // no argument of it can be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
