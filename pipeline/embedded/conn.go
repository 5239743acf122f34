package embedded

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Limits of requests. Kafka's default of socket.request.max.bytes is the same.
const (
	maxRequestBytes = 100 << 20
	// largeRequestBytes is the size from which a request is passed on only after all its bytes have
	// arrived.
	largeRequestBytes = 1 << 20
)

// listener accepts connections whose requests have plausible sizes.
type listener struct{ net.Listener }

// Accept implements [net.Listener].
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &requestConn{Conn: conn}, nil
}

// requestConn checks the sizes of requests. kfake allocates the size that the first four bytes of a
// request state, which any program may send: of an HTTP request they mean more than 1 GB. So the
// connection fails at a request over the limit, and kfake does not see the size of a large one
// before all its bytes have arrived. One goroutine reads.
type requestConn struct {
	net.Conn
	ready []byte // bytes to return before others are read
	left  int    // bytes of the current request that are not read yet
}

// Read implements [net.Conn].
func (c *requestConn) Read(p []byte) (int, error) {
	if len(c.ready) == 0 && c.left == 0 {
		if err := c.begin(); err != nil {
			return 0, err
		}
	}
	if len(c.ready) > 0 {
		n := copy(p, c.ready)
		c.ready = c.ready[n:]
		if len(c.ready) == 0 {
			c.ready = nil // a large request is not kept
		}
		return n, nil
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// begin reads the size of the next request, and all of a large one.
func (c *requestConn) begin() error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(head))
	if size > maxRequestBytes {
		return fmt.Errorf("request of %d bytes, more than %d", size, maxRequestBytes)
	}
	c.ready = head
	if size < largeRequestBytes {
		c.left = int(size)
		return nil
	}
	whole := bytes.NewBuffer(head)
	_, err := io.CopyN(whole, c.Conn, size)
	if err != nil {
		return fmt.Errorf("request of %d bytes: %w", size, err)
	}
	c.ready = whole.Bytes()
	return nil
}
