package serveload

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// sleep blocks the thread itself, because the runtime's timers wake up to a millisecond late.
func sleep(d time.Duration) {
	for until := time.Now().Add(d); d > 0; d = time.Until(until) {
		wait := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&wait, nil) // a signal may end it early
	}
}

// blocking is a connection whose reads and writes block in the kernel. With the runtime's own
// connections, another thread would notice the answer and wake the waiting one, and that time would
// count as the server's.
type blocking struct {
	file *os.File
	fd   int
}

// block takes over a connection. timeout bounds each read and write.
func block(conn *net.TCPConn, timeout time.Duration) (io.ReadWriteCloser, error) {
	file, err := conn.File()
	if err := errors.Join(err, conn.Close()); err != nil {
		return nil, err
	}
	b := &blocking{file, int(file.Fd())}
	limit := syscall.NsecToTimeval(int64(timeout))
	if err := errors.Join(
		syscall.SetNonblock(b.fd, false),
		syscall.SetsockoptTimeval(b.fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit),
		syscall.SetsockoptTimeval(b.fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit),
	); err != nil {
		return nil, errors.Join(fmt.Errorf("set connection to blocking mode: %w", err), file.Close())
	}
	return b, nil
}

func (b *blocking) Read(p []byte) (int, error) {
	n, err := again(func() (int, error) { return syscall.Read(b.fd, p) })
	if n == 0 && err == nil && len(p) > 0 {
		return 0, io.EOF
	}
	return n, err
}

func (b *blocking) Write(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		var n int
		n, err = again(func() (int, error) { return syscall.Write(b.fd, p[written:]) })
		written += n
	}
	return written, err
}

func (b *blocking) Close() error { return b.file.Close() }

// again repeats a system call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return 0, os.ErrDeadlineExceeded
		case err != nil:
			return 0, err
		default:
			return n, nil
		}
	}
}
