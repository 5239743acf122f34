package clitest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Programs are the commands, built as a user would build them.
type Programs struct{ dir string }

// Build builds both commands into a directory.
func Build(dir string) (Programs, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/eerf-stream/eerf").Output() // tests of another module too
	if err != nil {
		return Programs{}, err
	}
	build := exec.Command("go", "build", "-C", strings.TrimSpace(string(root)), "-o", dir, "./cmd/featurizer", "./cmd/trainer")
	if out, err := build.CombinedOutput(); err != nil {
		return Programs{}, errors.New(err.Error() + "\n" + string(out))
	}
	return Programs{dir}, nil
}

// folder is where the programs are built for the tests of a package; empty = not needed yet.
var folder string

var built = sync.OnceValues(func() (p Programs, err error) {
	if folder, err = os.MkdirTemp("", "eerf-programs-"); err != nil {
		return p, err
	}
	return Build(folder)
})

// Built returns the programs, built once for all tests of a package, whose TestMain calls [Main].
func Built(t testing.TB) Programs {
	t.Helper()
	if testing.Short() {
		t.Skip("builds both commands")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Main runs the tests of a package and removes the programs that [Built] made.
func Main(m *testing.M) {
	code := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder) // it is a temporary folder anyway
	}
	os.Exit(code)
}

// Command is a program with its arguments, not yet started. It does not outlive the test.
func (p Programs) Command(t testing.TB, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(t.Context(), filepath.Join(p.dir, name), args...)
}

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
	address   string // of its HTTP server; empty = not known yet
}

// output is what a process wrote. It can be read while the process runs.
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

// String is what was written so far.
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
		_ = cmd.Wait() // the exit code is what is checked
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-p.ended
	})
	return p
}

// Log is what the service has logged so far.
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
		found = logLine(p.Log(), message)
		return found != nil
	})
	return found
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
