package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/eerf-stream/eerf/internal/failpoint"
)

// process is a program that runs.
type process struct {
	cmd  *exec.Cmd
	log  string        // file with its output
	hits string        // file to which its failpoint adds itself
	done chan struct{} // closed at its end
	err  error         // how it ended, after done

	stopped atomic.Bool // by SIGSTOP, at some time
}

// startProcess starts a program; its output is added to the log file.
func startProcess(log string, arm failpoint.Trigger, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.hits = fmt.Sprintf("%s.%d.hits", log, time.Now().UnixNano())
	p.cmd.Env = append(os.Environ(), failpoint.Env+"="+arm.String(), failpoint.EnvLog+"="+p.hits)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = onItsOwn()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends a signal; to a process that has ended it does nothing.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process at once and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// ended is whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// reached is the trigger that has acted, as text; empty for none.
func (p *process) reached() string {
	text, err := os.ReadFile(p.hits)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// endedBy is whether a process that has ended died by a signal.
func (p *process) endedBy(signal syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

// exitUnfinished is the exit code of a program that was told to end and could not finish in time what it had in hand: one
// that was stopped meanwhile, or that waited for the broker. docs/operations.md has the codes.
const exitUnfinished = 3

// exitCode is that of a process that has ended; -1 for one that died by a signal.
func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

// tail returns the end of the process's output.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-1500):])
}
