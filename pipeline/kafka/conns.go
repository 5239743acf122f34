package kafka

import (
	"context"
	"net"
	"sync"
)

// conns dials connections and tracks the open ones, so that they can be cut together: kafka-go
// cannot interrupt a request that waits for its response.
type conns struct {
	dialer  net.Dialer
	encrypt *encryption     // nil = connections are not encrypted
	login   *authentication // nil = connections are not authenticated

	ctx context.Context // ends with close and cancels dials
	end context.CancelFunc

	mu     sync.Mutex // guards the fields below; held while ctx ends
	open   map[addresses]openConn
	opened int64 // connections so far
}

// openConn is an open connection with its number.
type openConn struct {
	net.Conn
	number int64
}

// addresses identify an open connection.
type addresses struct{ local, remote string }

// addressed is the part of [net.Conn] that kafka-go's connections have too.
type addressed interface {
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

func addressesOf(conn addressed) addresses {
	return addresses{conn.LocalAddr().String(), conn.RemoteAddr().String()}
}

// newest returns the number of the most recent connection.
func (c *conns) newest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// number returns the number of a connection; connections are numbered in the order in which they
// were opened.
func (c *conns) number(conn addressed) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[addressesOf(conn)].number
}

func newConns(encrypt *encryption, login *authentication) *conns {
	c := &conns{encrypt: encrypt, login: login, open: map[addresses]openConn{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// dial opens a connection, encrypted and authenticated if configured. After close it fails with
// [net.ErrClosed].
func (c *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	conn, err := c.dialer.DialContext(ctx, network, address)
	conn, err = c.track(conn, err)
	if err == nil && c.encrypt != nil {
		conn, err = c.encrypt.client(ctx, conn, address)
	}
	if err == nil && c.login != nil {
		conn, err = c.login.open(ctx, conn)
	}
	return conn, err
}

// track records the result of a dial.
func (c *conns) track(conn net.Conn, err error) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		if err == nil {
			conn.Close()
		}
		return nil, net.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	c.opened++
	c.open[addressesOf(conn)] = openConn{conn, c.opened}
	return &trackedConn{Conn: conn, of: c}, nil
}

// close cuts every open connection and refuses new ones.
func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	for _, conn := range c.open {
		conn.Close()
	}
	clear(c.open)
}

func (c *conns) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, addressesOf(conn))
}

type trackedConn struct {
	net.Conn
	of *conns
}

func (t *trackedConn) Close() error {
	t.of.forget(t.Conn)
	return t.Conn.Close()
}
