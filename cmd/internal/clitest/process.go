package clitest

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Finish runs a command to its end.
func Finish(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return Result{Args: cmd.Args, Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errs.String()}
}

// Process is a service under test.
type Process struct {
	cmd       *exec.Cmd
	out, errs output
	ended     chan struct{}
	address   string // of its HTTP server; empty if unknown
}

// output collects the output of a process. It can be read while the process runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Start starts a service, which ends with the test at the latest.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // the test checks the exit code
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-p.ended
	})
	return p
}

// Log returns the log of the service so far.
func (p *Process) Log() string { return p.errs.String() }

// AwaitLog waits until the service has logged a text.
func (p *Process) AwaitLog(t testing.TB, text string) {
	t.Helper()
	Eventually(t, "log of "+text, func() bool { return strings.Contains(p.Log(), text) })
}

// LogLine waits for the first line of the JSON log with the message and returns it.
func (p *Process) LogLine(t testing.TB, message string) (found Object) {
	t.Helper()
	Eventually(t, "log line "+message, func() bool {
		ended := p.hasEnded()
		found = logLine(p.Log(), message)
		if found == nil && ended {
			t.Fatalf("ended without the log line %q\n%s", message, p.Log())
		}
		return found != nil
	})
	return found
}

// hasEnded reports whether the service has ended.
func (p *Process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Stop ends the service as Kubernetes does and returns its result.
func (p *Process) Stop(t testing.TB) Result {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, p.Log())
	}
	return p.Wait()
}

// Ended is closed once the service has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait returns the result of the service once it has ended.
func (p *Process) Wait() Result {
	<-p.ended
	return Result{Args: p.cmd.Args, Code: p.cmd.ProcessState.ExitCode(), Out: p.out.String(), Err: p.errs.String()}
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal without waiting for its effect.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%v\n%s", err, p.Log())
	}
}
