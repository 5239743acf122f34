package embedded_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// TestStatedSizesAllocateLittle sends requests of other protocols, and only the size fields of
// large requests.
func TestStatedSizesAllocateLittle(t *testing.T) {
	broker, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { broker.Close() })
	send := func(begin []byte) net.Conn {
		conn, err := net.Dial("tcp", broker.Addrs()[0])
		if err == nil {
			_, err = conn.Write(begin)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4 {
		http := send([]byte("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
		_ = http.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := http.Read(make([]byte, 1)); err == nil {
			t.Errorf("got %d bytes in response to HTTP", n)
		}
		large := send(append(binary.BigEndian.AppendUint32(nil, 90<<20), bytes.Repeat([]byte{0}, 1000)...))
		small := send(binary.BigEndian.AppendUint32(nil, 1000))
		_ = large.(*net.TCPConn).CloseWrite()
		_ = small.(*net.TCPConn).CloseWrite()
		for _, conn := range []net.Conn{large, small} {
			if _, err := io.ReadAll(conn); err != nil {
				t.Logf("closed with %v", err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("%d bytes were allocated for sizes without requests", allocated)
	}
}
