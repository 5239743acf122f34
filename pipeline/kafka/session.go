package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Authentication is done here and not by kafka-go, which ignores the lifetime of sessions. A
// connection with a limited lifetime is re-authenticated before it is over, between two requests
// (KIP-368): it stays open, and a member stays in its group.

// Time of re-authentication, as a fraction of the session's lifetime. Brokers refuse to do it twice
// in a second.
const (
	earliestRenewal, renewalSpread = 0.8, 0.15
	leastRenewal                   = 1500 * time.Millisecond
)

// authentication identifies the client on connections.
type authentication struct {
	mechanism sasl.Mechanism
	formatter *kmsg.RequestFormatter
	timeout   time.Duration
	accepted  atomic.Bool // a broker has accepted the credentials before
}

// rotatingCredential is implemented by mechanisms whose credentials are renewed automatically, so
// that a refusal may be temporary. refused explains the broker's error.
type rotatingCredential interface {
	refused(broker error) error
}

// open authenticates a new connection, which is closed if that fails.
func (a *authentication) open(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if deadline, has := ctx.Deadline(); has {
		_ = conn.SetDeadline(deadline) // if this fails, the timeouts of requests remain
	}
	began := time.Now()
	life, err := a.exchange(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	if life <= 0 {
		return conn, nil
	}
	s := &session{Conn: conn, of: a, due: began.Add(renewal(life))}
	s.answered.L = &s.mu
	return s, nil
}

// close releases the resources of the mechanism.
func (a *authentication) close() {
	if a == nil {
		return
	}
	if b, ok := a.mechanism.(*bearer); ok {
		b.tokens.Close()
	}
}

func renewal(life time.Duration) time.Duration {
	return max(leastRenewal, time.Duration(float64(life)*(earliestRenewal+renewalSpread*rand.Float64())))
}

// exchange authenticates and returns the lifetime of the session; 0 = unlimited.
func (a *authentication) exchange(ctx context.Context, conn net.Conn) (life time.Duration, err error) {
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, a.mechanism.Name()
	hands := kmsg.NewPtrSASLHandshakeResponse()
	if err := a.ask(conn, handshake, hands); err != nil {
		return 0, err
	}
	if hands.ErrorCode != 0 {
		return 0, fmt.Errorf("%w: the brokers offer %v", kafkago.Error(hands.ErrorCode), hands.SupportedMechanisms)
	}
	state, text, err := a.mechanism.Start(ctx)
	if err != nil {
		return 0, err
	}
	for done := false; !done; {
		request := kmsg.NewPtrSASLAuthenticateRequest()
		request.Version, request.SASLAuthBytes = 1, text
		response := kmsg.NewPtrSASLAuthenticateResponse()
		if err := a.ask(conn, request, response); err != nil {
			return 0, err
		}
		if response.ErrorCode != 0 {
			err := error(kafkago.Error(response.ErrorCode))
			if response.ErrorMessage != nil {
				err = fmt.Errorf("%w: %s", err, *response.ErrorMessage)
			}
			return 0, a.refusal(state, err)
		}
		if done, text, err = state.Next(ctx, response.SASLAuthBytes); err != nil {
			return 0, err
		}
		life = time.Duration(response.SessionLifetimeMillis) * time.Millisecond
	}
	a.accepted.Store(true)
	return life, nil
}

// refusal returns the error of a refusal. It is permanent unless the credentials are renewed
// automatically and were accepted before.
func (a *authentication) refusal(state sasl.StateMachine, err error) error {
	rotating, ok := state.(rotatingCredential)
	if !ok || !errors.Is(err, kafkago.SASLAuthenticationFailed) {
		return err
	}
	err = rotating.refused(err)
	if a.accepted.Load() {
		return errors.New(err.Error()) // hides the code
	}
	return err
}

const maxSASLBytes = 1 << 20

// ask sends a request and reads its response. No other request is under way on the connection.
func (a *authentication) ask(conn net.Conn, request kmsg.Request, response kmsg.Response) error {
	const correlation = 1
	if _, err := conn.Write(a.formatter.AppendRequest(nil, request, correlation)); err != nil {
		return err
	}
	var header [8]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return err
	}
	size, id := binary.BigEndian.Uint32(header[:]), binary.BigEndian.Uint32(header[4:])
	if size < 4 || size > maxSASLBytes || id != correlation {
		return fmt.Errorf("authentication: response of %d bytes with correlation id %d: "+
			"not a Kafka broker, or one with different tls or sasl settings", size, id)
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	response.SetVersion(request.GetVersion())
	return response.ReadFrom(body)
}

// session is a connection that is re-authenticated in time. It distinguishes requests and responses
// by their lengths. It has one writer and one reader at a time, and the reader reads only requested
// responses.
type session struct {
	net.Conn
	of  *authentication
	due time.Time // used by writers only

	mu            sync.Mutex // guards the fields below
	sent, read    frames
	answered      sync.Cond // signals changes of read and broken
	broken        bool
	readDeadline  time.Time // as set by the user
	writeDeadline time.Time
	renewing      bool // deadlines set meanwhile apply afterwards
}

// Write implements [net.Conn].
func (s *session) Write(p []byte) (n int, err error) {
	if !time.Now().Before(s.due) {
		if err := s.renew(); err != nil {
			s.Conn.Close()
			return 0, err
		}
	}
	// Counted first, since the response may be read before Write returns. The counts do not matter
	// after a failed write.
	s.mu.Lock()
	s.sent.pass(p)
	s.mu.Unlock()
	return s.Conn.Write(p)
}

// Read implements [net.Conn].
func (s *session) Read(p []byte) (n int, err error) {
	n, err = s.Conn.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read.pass(p[:n])
	s.broken = s.broken || err != nil
	s.answered.Broadcast()
	return n, err
}

// Close implements [net.Conn].
func (s *session) Close() error {
	s.mu.Lock()
	s.broken = true
	s.answered.Broadcast()
	s.mu.Unlock()
	return s.Conn.Close()
}

// renew re-authenticates, unless a request is partially written. It waits until all requests have
// been answered.
func (s *session) renew() error {
	s.mu.Lock()
	if !s.sent.between() {
		s.mu.Unlock()
		return nil
	}
	for s.read.count < s.sent.count && !s.broken {
		s.answered.Wait()
	}
	if s.broken {
		s.mu.Unlock()
		return nil // the next write or read returns the error
	}
	s.renewing = true
	s.mu.Unlock()

	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), s.of.timeout)
	defer cancel()
	_ = s.Conn.SetDeadline(began.Add(s.of.timeout))
	life, err := s.of.exchange(ctx, s.Conn)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewing = false
	if err != nil {
		return fmt.Errorf("re-authenticate: %w", err)
	}
	s.due = began.Add(renewal(life))
	return errors.Join(s.Conn.SetReadDeadline(s.readDeadline), s.Conn.SetWriteDeadline(s.writeDeadline))
}

// SetDeadline implements [net.Conn].
func (s *session) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (s *session) SetReadDeadline(t time.Time) error {
	return s.set(&s.readDeadline, t, s.Conn.SetReadDeadline)
}

// SetWriteDeadline implements [net.Conn].
func (s *session) SetWriteDeadline(t time.Time) error {
	return s.set(&s.writeDeadline, t, s.Conn.SetWriteDeadline)
}

func (s *session) set(deadline *time.Time, t time.Time, apply func(time.Time) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*deadline = t
	if s.renewing {
		return nil
	}
	return apply(t)
}

// frames counts the messages in a stream of bytes.
type frames struct {
	count int64 // complete ones
	head  [4]byte
	has   int   // bytes of head
	left  int64 // bytes of the message after head
}

func (f *frames) pass(p []byte) {
	for len(p) > 0 {
		if f.has < len(f.head) {
			n := copy(f.head[f.has:], p)
			f.has, p = f.has+n, p[n:]
			if f.has == len(f.head) {
				f.left = int64(binary.BigEndian.Uint32(f.head[:]))
			}
		}
		n := min(f.left, int64(len(p)))
		f.left, p = f.left-n, p[n:]
		if f.has == len(f.head) && f.left == 0 {
			f.count, f.has = f.count+1, 0
		}
	}
}

// between reports whether no message has passed partially.
func (f *frames) between() bool { return f.has == 0 }
