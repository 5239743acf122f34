package serveload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// request is a complete HTTP request.
type request []byte

// newRequest makes a request; a nil body means GET.
func newRequest(path, contentType string, body []byte) request {
	if body == nil {
		return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	}
	head := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", path,
		contentType, len(body))
	return append(head, body...)
}

// connection is a persistent connection. It belongs to one goroutine. The client of net/http would
// take longer than the measured requests.
type connection struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
	body []byte
}

const answerTimeout = 10 * time.Second

func dial(address string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", address, answerTimeout)
	if err != nil {
		return nil, err
	}
	blocking, err := block(conn.(*net.TCPConn), answerTimeout)
	if err != nil {
		return nil, err
	}
	return &connection{conn: blocking, in: bufio.NewReaderSize(blocking, 64<<10)}, nil
}

// do sends a request and reads the answer. The body is valid until the next call.
func (c *connection) do(r request) (status int, body []byte, err error) {
	if _, err := c.conn.Write(r); err != nil {
		return 0, nil, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, nil, fmt.Errorf("read status: %w", err)
	}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return 0, nil, fmt.Errorf("status line %q", line)
	}
	if status, err = strconv.Atoi(string(fields[1])); err != nil {
		return 0, nil, fmt.Errorf("status line %q", line)
	}
	length := 0
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return status, nil, fmt.Errorf("read headers: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return status, nil, fmt.Errorf("header %q", line)
			}
		}
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, c.body, err
}

func (c *connection) close() { _ = c.conn.Close() }
