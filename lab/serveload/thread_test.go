package serveload

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestConnectionIsKeptOpen sends requests with responses of any length, until the server closes the
// connection.
func TestConnectionIsKeptOpen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(len(body))) // the client needs the length
		_, _ = w.Write(body)
	}))
	defer server.Close()
	c, err := dial(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, n := range []int{1, 100_000, 10} {
		want := strings.Repeat("x", n)
		status, body, err := c.do(newRequest("/", "text/plain", []byte(want)))
		if err != nil || status != http.StatusOK || string(body) != want {
			t.Errorf("%d bytes: status %d, %d bytes, %v", n, status, len(body), err)
		}
	}
	server.CloseClientConnections()
	if _, _, err := c.do(newRequest("/", "", nil)); err == nil {
		t.Error("got a response on a closed connection")
	}
}

// TestConnectionTimesOut waits for a server that does not respond.
func TestConnectionTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	blocking, err := block(conn.(*net.TCPConn), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = blocking.Close() }()
	if _, err := blocking.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}
