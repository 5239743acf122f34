package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// limitAddressSpace limits how much more this process may map than it already has. Under the race detector, whose
// shadow grows with the memory in use, there is no limit.
func limitAddressSpace(more int64) error {
	if raceDetector {
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

// processorTime is that of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("hostile: " + err.Error()) // no argument of it can be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak resets [peakResident], if the system allows that.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakResident is the largest resident size of this process in bytes, 0 if the system does not report it. The
// maximum in the resource usage is no use: it includes the process that started this one.
func peakResident() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(raw, []byte("VmHWM:"))
	var kibibytes int64
	if _, err := fmt.Fscan(bytes.NewReader(after), &kibibytes); err != nil {
		return 0
	}
	return kibibytes << 10
}
