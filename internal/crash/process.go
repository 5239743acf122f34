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

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	log  string        // file with its output
	hits string        // file with the triggers that fired
	done chan struct{} // closed at its end
	err  error         // of its end, valid after done

	stopped atomic.Bool // SIGSTOP was sent at some time
}

// startProcess starts a program with its clock ahead by a duration. Its output is appended to the
// log file.
func startProcess(
	log string,
	arm failpoint.Trigger,
	clock time.Duration,
	program string,
	args ...string,
) (*process, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.hits = fmt.Sprintf("%s.%d.hits", log, time.Now().UnixNano())
	p.cmd.Env = append(os.Environ(),
		failpoint.Env+"="+arm.String(), failpoint.EnvLog+"="+p.hits, failpoint.EnvClock+"="+clock.String())
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = ownSession()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends a signal. It does nothing after the end of the process.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process at once and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// reached returns the trigger that fired, as text; empty = none.
func (p *process) reached() string {
	text, err := os.ReadFile(p.hits)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// endedBy reports whether the ended process died of a signal.
func (p *process) endedBy(signal syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

// exitUnfinished is the exit code of a program that could not finish its work in time after
// SIGTERM, because it was stopped or was waiting for the broker. docs/operations.md lists the
// codes.
const exitUnfinished = 3

// exitCode is the exit code of an ended process; -1 if it died of a signal.
func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

// tail returns the end of the process's output.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-1500):])
}
