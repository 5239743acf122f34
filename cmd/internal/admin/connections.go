package admin

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// connections bounds the open connections, and the connections of one address to half of them. A
// connection rests if it has sent no whole request yet, or none since its last answer. When a new
// connection needs a place, the connection that has rested longest is closed. If all are busy, new
// ones wait until one is done.
type connections struct {
	net.Listener
	most, ofAddress int

	mu      sync.Mutex
	open    int
	by      map[netip.Addr]int
	resting *list.List    // of *connection, longest rest first
	changed chan struct{} // holds a token after a connection came to rest or was closed
	closed  chan struct{}
	once    sync.Once
}

// Bound returns a listener that bounds the connections to a server.
func Bound(l net.Listener, server *http.Server, most int) net.Listener {
	bounded := newConnections(l, most)
	server.ConnState = bounded.state
	return bounded
}

func newConnections(l net.Listener, most int) *connections {
	return &connections{
		Listener: l, most: most, ofAddress: max(1, most/2), by: map[netip.Addr]int{}, resting: list.New(),
		changed: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: conn, of: l}
		if address, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
			c.address = address.AddrPort().Addr().Unmap()
		}
		switch l.admit(c) {
		case admitted:
			return c, nil
		case refused:
			_ = conn.Close()
		case ended:
			_ = conn.Close()
			return nil, net.ErrClosed
		}
	}
}

const (
	admitted = iota
	refused  // the address has its share of busy connections
	ended    // the listener is closed
)

// admit makes room for a connection; it waits if all are busy.
func (l *connections) admit(c *connection) int {
	for {
		l.mu.Lock()
		own := l.by[c.address] >= l.ofAddress
		if l.open < l.most && !own {
			l.open++
			l.by[c.address]++
			c.at = l.resting.PushBack(c)
			l.mu.Unlock()
			return admitted
		}
		victim := l.longest(c.address, own)
		l.mu.Unlock()
		switch {
		case victim != nil:
			_ = victim.Close()
			continue
		case own:
			return refused
		}
		select {
		case <-l.changed:
		case <-l.closed:
			return ended
		}
	}
}

// longest returns the connection that has rested longest, of one address only if own is set; nil if
// none rests.
func (l *connections) longest(address netip.Addr, own bool) *connection {
	for at := l.resting.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*connection); !own || c.address == address {
			return c
		}
	}
	return nil
}

// state follows the state that the server reports for a connection.
func (l *connections) state(conn net.Conn, now http.ConnState) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	c, ok := conn.(*connection)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now == http.StateActive {
		c.busy()
	}
	if now == http.StateIdle && !c.gone {
		c.busy()
		c.at = l.resting.PushBack(c)
		l.wake()
	}
}

// wake makes one waiting connection check again.
func (l *connections) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Close implements net.Listener.
func (l *connections) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// connection is an open connection. The listener's lock guards all fields but Conn.
type connection struct {
	net.Conn
	of      *connections
	address netip.Addr
	at      *list.Element // in the list of resting connections; nil = busy
	gone    bool
}

func (c *connection) busy() {
	if c.at != nil {
		c.of.resting.Remove(c.at)
		c.at = nil
	}
}

// Close releases the place.
func (c *connection) Close() error {
	err := c.Conn.Close()
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.gone {
		c.gone = true
		c.busy()
		l.open--
		if l.by[c.address]--; l.by[c.address] == 0 {
			delete(l.by, c.address)
		}
		l.wake()
	}
	return err
}
