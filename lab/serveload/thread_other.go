//go:build !linux

package serveload

import (
	"io"
	"net"
	"time"
)

// sleep is as precise as the runtime allows.
func sleep(d time.Duration) { time.Sleep(d) }

// timed is a connection with a timeout for each read and write.
type timed struct {
	*net.TCPConn
	timeout time.Duration
}

func block(conn *net.TCPConn, timeout time.Duration) (io.ReadWriteCloser, error) {
	return &timed{conn, timeout}, nil
}

func (t *timed) Read(p []byte) (int, error) {
	if err := t.SetReadDeadline(time.Now().Add(t.timeout)); err != nil {
		return 0, err
	}
	return t.TCPConn.Read(p)
}

func (t *timed) Write(p []byte) (int, error) {
	if err := t.SetWriteDeadline(time.Now().Add(t.timeout)); err != nil {
		return 0, err
	}
	return t.TCPConn.Write(p)
}
