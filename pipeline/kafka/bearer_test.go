package kafka_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/oauth"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// guard is a proxy for a broker without OAUTHBEARER. Like Apache Kafka, it cuts connections that
// send anything but authentication requests after the end of their session.
type guard struct {
	t      *testing.T
	judge  func(token string) (refusal string)
	life   time.Duration
	mu     sync.Mutex // guards the fields below, and judge
	first  []string   // first messages of authentications
	again  int        // re-authentications
	ended  int        // connections that did not re-authenticate in time
	opened int
}

type guardedListener struct {
	net.Listener
	*guard
}

func (g *guard) start(t *testing.T) kafka.Config {
	t.Helper()
	g.t = t
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "topic"),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			l, err := net.Listen(network, address)
			return &guardedListener{l, g}, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(bearerToken), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(cluster.ListenAddrs())
	c.SASL = kafka.SASL{Mechanism: "oauthbearer", AllowPlaintext: true,
		OAuth: oauth.Config{TokenFile: file, Extensions: []string{"logicalCluster=lkc-1", "identityPoolId=pool-2"}}}
	return c
}

const canary = "canary-2f1d8a"

var bearerToken = "e30." + base64.RawURLEncoding.EncodeToString(
	[]byte(`{"iss":"idp","aud":"others","exp":9e9}`),
) + "." + canary

func (l *guardedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened++
	return &guardedConn{Conn: conn, guard: l.guard}, nil
}

// guardedConn is the broker's side of a connection.
type guardedConn struct {
	net.Conn
	*guard
	ends    time.Time
	said    string
	pending []byte // of a request for the broker

	counting             sync.Mutex
	requested, responded int // counts of requests and responses
}

func (c *guardedConn) Read(p []byte) (int, error) {
	for len(c.pending) == 0 {
		var length [4]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		request := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(c.Conn, request); err != nil {
			return 0, err
		}
		if err := c.pass(request, length[:]); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

func (c *guardedConn) Write(p []byte) (int, error) {
	c.counting.Lock()
	c.responded++ // kfake writes one response at a time
	c.counting.Unlock()
	return c.Conn.Write(p)
}

func (c *guardedConn) pass(request, length []byte) error {
	c.counting.Lock()
	defer c.counting.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	key, id, body := binary.BigEndian.Uint16(request), request[4:8], request[10+binary.BigEndian.Uint16(request[8:]):]
	switch key {
	case 17: // handshake
		if c.requested != c.responded {
			c.t.Errorf("authentication with %d requests under way", c.requested-c.responded)
		}
		c.answer(id, kmsg.NewPtrSASLHandshakeResponse())
	case 36: // authenticate
		c.authenticate(id, string(body[4:]))
	default:
		if time.Now().After(c.ends) {
			if !c.ends.IsZero() {
				c.ended++
			}
			c.Conn.Close()
			return io.EOF
		}
		c.requested++
		c.pending = append(length, request...)
	}
	return nil
}

func (c *guardedConn) authenticate(id []byte, text string) {
	response := kmsg.NewPtrSASLAuthenticateResponse()
	if c.said == "" {
		c.first = append(c.first, text)
		_, token, _ := strings.Cut(text, "auth=Bearer ")
		token, _, _ = strings.Cut(token, "\x01")
		if c.said = c.judge(token); c.said == "" {
			if !c.ends.IsZero() {
				c.again++
			}
			c.ends = time.Now().Add(c.life)
			response.SessionLifetimeMillis = c.life.Milliseconds()
		}
		response.SASLAuthBytes = []byte(c.said)
	} else {
		if text != "\x01" {
			c.t.Errorf("client answered the refusal with %q", text)
		}
		response.ErrorCode, response.ErrorMessage = 58, &c.said
	}
	c.answer(id, response)
}

func (c *guardedConn) answer(id []byte, response kmsg.Response) {
	response.SetVersion(1)
	body := response.AppendTo(append([]byte{0, 0, 0, 0}, id...))
	binary.BigEndian.PutUint32(body, uint32(len(body)-4))
	_, _ = c.Conn.Write(body)
}

// TestConnectionsAreReauthenticated uses connections across the ends of several sessions.
func TestConnectionsAreReauthenticated(t *testing.T) {
	g := &guard{judge: func(string) string { return "" }, life: 1800 * time.Millisecond}
	useUntil(t, dial(t, g.start(t)), "topic", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.again >= 4
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended > 0 {
		t.Errorf("%d connections did not re-authenticate in time", g.ended)
	}
	if want := "n,,\x01auth=Bearer " + bearerToken + "\x01logicalCluster=lkc-1\x01identityPoolId=pool-2\x01\x01"; g.first[0] != want {
		t.Errorf("%q", g.first[0])
	}
}

// useUntil writes, reads and stays in a group until the condition holds.
func useUntil(t *testing.T, client *kafka.Client, topic string, enough func() bool) {
	t.Helper()
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	var written int64
	for ; !enough(); written++ {
		pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values(fmt.Sprint("v", written))...)
		if _, err := client.Fetch(pipelinetest.Context(t), topic, 0, written); err != nil {
			t.Fatal(err)
		}
	}
	if got := pipelinetest.ReadUntil(t, client, topic, 0, 0, written); len(got) != int(written) {
		t.Errorf("got %d of %d records", len(got), written)
	}
	if joins := client.Groups()[0].Joins; joins != 1 {
		t.Errorf("joined the group %d times", joins)
	}
}

// TestIdleConnectionsAreReauthenticated uses a connection that was idle past the end of its
// session.
func TestIdleConnectionsAreReauthenticated(t *testing.T) {
	g := &guard{judge: func(string) string { return "" }, life: kafka.LeastRenewal - 100*time.Millisecond}
	client := dial(t, g.start(t))
	pipelinetest.Produce(t, client, "topic", 0, pipelinetest.Values("a")...)
	time.Sleep(kafka.LeastRenewal)
	pipelinetest.Produce(t, client, "topic", 0, pipelinetest.Values("b")...)
}

func TestRefusedTokenIsPermanentUntilOneWasAccepted(t *testing.T) {
	refuse := false
	g := &guard{life: time.Hour, judge: func(string) string {
		if refuse {
			return `{"status":"invalid_token"}`
		}
		return ""
	}}
	c := g.start(t)
	partitions := func(client *kafka.Client) error {
		_, err := client.Partitions(pipelinetest.Context(t), "topic")
		return err
	}
	set := func(to bool) {
		g.mu.Lock()
		defer g.mu.Unlock()
		refuse = to
	}
	set(true)
	first := partitions(dial(t, c))
	set(false)
	client := dial(t, c)
	if err := partitions(client); err != nil {
		t.Fatal(err)
	}
	set(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- client.Own(ctx, "group", "topic", nil) }()
	var later error
	for later == nil { // until a new connection was refused
		if g := client.Groups(); len(g) > 0 {
			later = g[0].Err
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Own returned: %v", err)
	}
	for err, permanent := range map[error]bool{first: true, later: false} {
		if err == nil || pipeline.IsPermanent(err) != permanent || strings.Contains(err.Error(), canary) ||
			!strings.Contains(
				err.Error(),
				`issuer "idp", audience "others", scope none`,
			) || !strings.Contains(err.Error(), `{"status":"invalid_token"}`) {
			t.Errorf("permanent %v: %v", pipeline.IsPermanent(err), err)
		}
	}
}

// TestErrorWithoutATokenNamesItsOrigin deletes the token file; the error names it.
func TestErrorWithoutATokenNamesItsOrigin(t *testing.T) {
	c := (&guard{judge: func(string) string { return "" }}).start(t)
	client := dial(t, c)
	if err := os.Remove(c.SASL.OAuth.TokenFile); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Partitions(pipelinetest.Context(t), "topic"); err == nil || pipeline.IsPermanent(err) ||
		!strings.Contains(err.Error(), "token_file "+c.SASL.OAuth.TokenFile) {
		t.Error(err)
	}
}
