package kafka

import (
	"context"
	"net"
	"sync"
)

// conns dials connections and remembers the open ones, so that they can be cut together: kafka-go has no
// way to interrupt a request that waits for its response.
type conns struct {
	dialer  net.Dialer
	encrypt *encryption // nil = connections are readable

	ctx context.Context // ends with close, and with it dials under way
	end context.CancelFunc

	mu   sync.Mutex // guards open, and its order against the end of ctx
	open map[net.Conn]struct{}
}

func newConns(encrypt *encryption) *conns {
	c := &conns{encrypt: encrypt, open: make(map[net.Conn]struct{})}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// dial opens a connection, encrypted if need be; after close it fails with [net.ErrClosed].
func (c *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	conn, err := c.dialer.DialContext(ctx, network, address)
	if conn, err = c.track(conn, err); err != nil || c.encrypt == nil {
		return conn, err
	}
	return c.encrypt.client(ctx, conn, address)
}

// track takes the result of a dial down.
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
	c.open[conn] = struct{}{}
	return &trackedConn{Conn: conn, of: c}, nil
}

// close cuts every open connection and refuses new ones.
func (c *conns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	for conn := range c.open {
		conn.Close()
	}
	clear(c.open)
}

func (c *conns) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

type trackedConn struct {
	net.Conn
	of *conns
}

func (t *trackedConn) Close() error {
	t.of.forget(t.Conn)
	return t.Conn.Close()
}
