package admin

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"
)

// Clients that open connections and send nothing hold little memory, and keep no probe out.
func TestIdleConnectionsAreBounded(t *testing.T) {
	s, get := start(t, options())
	var first net.Conn
	for range maxConnections {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if first == nil {
			first = conn
		}
	}
	if got := get("/livez", ""); got.code != http.StatusOK {
		t.Errorf("%+v", got)
	}
	_ = first.SetReadDeadline(time.Now().Add(headerTimeout / 2))
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection that has rested longest is open: %v", err)
	}
}

// restless is a connection that is never used.
type restless struct{ net.Conn }

func (restless) Close() error { return nil }

// Connections beyond the limit wait until one is done or idle. One address may have half of them.
func TestConnectionsAreBounded(t *testing.T) {
	l := newConnections(nil, 4)
	open := func(address byte) *connection {
		return &connection{Conn: restless{}, of: l, address: netip.AddrFrom4([4]byte{10, 0, 0, address})}
	}
	var busy []*connection
	for i := range byte(4) {
		c := open(1 + i/2)
		if got := l.admit(c); got != admitted {
			t.Fatal(got)
		}
		l.state(c, http.StateActive)
		busy = append(busy, c)
	}
	if got := l.admit(open(1)); got != refused {
		t.Errorf("a third one of an address: %d", got)
	}
	waits := make(chan int)
	go func() { waits <- l.admit(open(3)) }()
	l.state(busy[2], http.StateIdle)
	if got := <-waits; got != admitted || !busy[2].gone || busy[0].gone || l.open != 4 {
		t.Errorf("%d, %d are open, idle one closed %v", got, l.open, busy[2].gone)
	}
	for _, c := range busy {
		for range 2 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if l.open != 1 || len(l.by) != 1 || l.resting.Len() != 1 {
		t.Errorf("%d open, of %d addresses, %d rest", l.open, len(l.by), l.resting.Len())
	}
}
