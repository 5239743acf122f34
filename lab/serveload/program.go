package serveload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build builds featurizer into a folder.
func build(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/eerf-stream/eerf").Output()
	if err != nil {
		return "", fmt.Errorf("find the programs: %w", err)
	}
	path := filepath.Join(dir, "featurizer")
	command := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/featurizer")
	command.Dir = strings.TrimSpace(string(root))
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build featurizer: %w\n%s", err, out)
	}
	return path, nil
}

// program is a server in its own process.
type program struct {
	command *exec.Cmd
	address string
	ended   chan error
	// signalled means that the program, like uvicorn, dies from the stop signal after cleaning up.
	signalled bool
}

// start starts a server and waits until it answers requests for path with 200.
func start(ctx context.Context, path, address string, name string, arguments ...string) (*program, error) {
	p := &program{command: exec.Command(name, arguments...), address: address, ended: make(chan error, 1)}
	p.command.Stderr = os.Stderr
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() { p.ended <- p.command.Wait() }()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		if c, err := dial(address); err == nil {
			status, _, err := c.do(newRequest(path, "", nil))
			c.close()
			if err == nil && status == 200 {
				return p, nil
			}
		}
		select {
		case err := <-p.ended:
			return nil, fmt.Errorf("%s ended: %w", name, err)
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), p.stop())
		case <-limit.C:
			return nil, errors.Join(fmt.Errorf("%s is not ready", name), p.stop())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the server with SIGTERM, like an orchestrator, and waits for it.
func (p *program) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := <-p.ended
	exit := (*exec.ExitError)(nil)
	if p.signalled && errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	return err
}

// cpu returns the CPU time that the server has used so far, or 0 if this system does not report it.
func (p *program) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const (
		user   = 11
		system = 12
		tick   = 10 * time.Millisecond
	)
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// peak is the largest resident memory of the server so far, in bytes; 0 if this system does not
// report it.
func (p *program) peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	var kilobytes int64
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}

// freeAddress returns an unused address of this machine.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
