package kafka

import (
	"context"
	"net"
	"sync"
)

// conns dials connections and remembers the open ones, so that they can be cut together: kafka-go cannot interrupt a
// request that waits for its response.
type conns struct {
	dialer  net.Dialer
	encrypt *encryption     // nil = connections are readable
	login   *authentication // nil = without

	ctx context.Context // ends with close, and so do dials under way
	end context.CancelFunc

	mu     sync.Mutex // guards what follows, and its order against the end of ctx
	open   map[ends]openConn
	opened int64 // connections so far
}

// openConn is an open connection with its number.
type openConn struct {
	net.Conn
	number int64
}

// ends identify an open connection.
type ends struct{ local, remote string }

// ended has two ends, as do [net.Conn] and kafka-go's connections.
type ended interface {
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

func endsOf(conn ended) ends { return ends{conn.LocalAddr().String(), conn.RemoteAddr().String()} }

// newest returns the number of the connection opened last.
func (c *conns) newest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

// number returns the number of a connection; they are counted in the order in which they were opened.
func (c *conns) number(conn ended) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[endsOf(conn)].number
}

func newConns(encrypt *encryption, login *authentication) *conns {
	c := &conns{encrypt: encrypt, login: login, open: map[ends]openConn{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// dial opens a connection, encrypted and authenticated if configured. After close it fails with [net.ErrClosed].
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
	c.open[endsOf(conn)] = openConn{conn, c.opened}
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
	delete(c.open, endsOf(conn))
}

type trackedConn struct {
	net.Conn
	of *conns
}

func (t *trackedConn) Close() error {
	t.of.forget(t.Conn)
	return t.Conn.Close()
}
