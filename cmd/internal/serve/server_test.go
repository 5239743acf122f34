package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/formats/formatstest"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// listening is a server with its own listener, closed at the end of the test.
func listening(t *testing.T, pair *featurize.Pair, change func(*serve.Config)) *Server {
	t.Helper()
	config := serve.Default()
	config.Listen = "127.0.0.1:0"
	if change != nil {
		change(&config)
	}
	m := meter.New()
	pairs := &serve.Pairs{Predictions: true, Serving: m.Serving(), Logger: stagestest.Logger(t)}
	pairs.Serve(pair)
	s, err := Start(Options{Limiter: serve.NewLimiter(config, 100,
		pairs), Serving: m.Serving(), Model: "shop", Logger: stagestest.Logger(t)})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a client with its own connections.
func client(t *testing.T, c *tls.Config) *http.Client {
	transport := &http.Transport{TLSClientConfig: c}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestRequestInProgressIsFinishedOnClose(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	s := listening(t, pair, nil)
	body, send := io.Pipe()
	request, err := http.NewRequest(http.MethodPost, "http://"+s.Addr()+"/v1/predict", body)
	must(t, err)
	request.Header.Set("Content-Type", typeJSON)
	answered := make(chan string, 1)
	go func() {
		r, err := client(t, nil).Do(request)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		answered <- r.Status + " " + r.Header.Get("Connection") + string(text)
	}()
	_, err = send.Write([]byte(row[:10]))
	must(t, err)
	stagestest.Until(t, "the request", func() bool { return s.Serving.Snapshot().InFlight == 1 })
	s.Stopping()
	if ok, detail := s.Ready(); ok || detail != "stopping" {
		t.Errorf("ready %v: %s", ok, detail)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	_, err = send.Write([]byte(row[10:]))
	must(t, err)
	must(t, send.Close())
	if got := stagestest.Await(t, "answer", answered); !strings.Contains(got, "200 OK") ||
		!strings.Contains(got, `"predictions":["`) {
		t.Error(got)
	}
	must(t, stagestest.Await(t, "close", closed))
}

const (
	live  = "GET /v2/health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	begun = "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
		"4194304\r\n\r\n{"
	foreign = "GET /v2/health/live HTTP/1.1\r\nHost: evil.example:8000\r\n\r\n"
)

// dial opens a connection and sends something on it.
func dial(t *testing.T, s *Server, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte(text))
	must(t, err)
	return conn
}

// status reads the first line of an answer, empty at the end of the connection.
func status(conn net.Conn) string {
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}

// Clients that leave connections open do not keep others out.
func TestIdleConnectionsAreClosedForNewOnes(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	s := listening(t, pair, func(c *serve.Config) { c.Connections = 4 })
	var idle []net.Conn
	for range 2 {
		conn := dial(t, s, live)
		if got := status(conn); got != "HTTP/1.1 200 OK" {
			t.Fatal(got)
		}
		idle = append(idle, conn)
	}
	if got := status(dial(t, s, live)); got != "HTTP/1.1 200 OK" {
		t.Errorf("with idle connections: %q", got)
	}
	if got := status(idle[0]); got != "" {
		t.Errorf("the longest idle connection is open: %q", got)
	}
}

// A body is charged as it arrives, not as announced, and must arrive in time.
func TestSlowBodiesHoldNoMemory(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	s := listening(t, pair, func(c *serve.Config) { c.Timeout = 500 * time.Millisecond })
	var slow []net.Conn
	for range 40 {
		slow = append(slow, dial(t, s, begun))
	}
	stagestest.Until(t, "the requests", func() bool { return s.Serving.Snapshot().InFlight == 40 })
	if !s.Limiter.Reserve(s.config.Memory) {
		t.Error("a byte of each of 40 bodies takes memory")
	} else {
		s.Limiter.Release(s.config.Memory)
	}
	for _, conn := range slow {
		if got := status(conn); got != "HTTP/1.1 408 Request Timeout" {
			t.Errorf("status %q", got)
		}
	}
	if few, many := arrival(1), arrival(4<<20); few > 3*time.Second || many < time.Minute {
		t.Errorf("a byte may take %v, 4 MiB %v", few, many)
	}
}

// A large body is charged its size, and releases it.
func TestLargeBodyIsChargedAndReleased(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	d := newTestServer(t, pair, nil)
	body := []byte(row + strings.Repeat(" ", 1<<20))
	if w := d.post("/v1/predict", body); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if !d.Limiter.Reserve(d.config.Memory - 1<<20) {
		t.Fatal("memory is missing")
	}
	if w := d.post("/v1/predict", body); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	d.Limiter.Release(d.config.Memory - 1<<20)
	d.free()
}

// A page of another host must not read answers through a browser on this machine.
func TestForeignHostsAreRefused(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	s := listening(t, pair, nil)
	if got := status(dial(t, s, foreign)); got != "HTTP/1.1 421 Misdirected Request" {
		t.Error(got)
	}
}

func TestClientCertificatesAreRequired(t *testing.T) {
	dir := t.TempDir()
	cert, key := newCertificate(t, dir)
	pair, _ := pairOf(t, stagestest.Binary)
	s := listening(t, pair, func(c *serve.Config) { c.TLS = serve.TLS{CertFile: cert, KeyFile: key, ClientCAFile: cert} })
	own, err := tls.LoadX509KeyPair(cert, key)
	must(t, err)
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(stagestest.Must(os.ReadFile(cert)))
	for _, certificates := range [][]tls.Certificate{{own}, nil} {
		r, err := client(t, &tls.Config{RootCAs: authority, Certificates: certificates}).
			Get("https://" + s.Addr() + "/v2/health/ready")
		switch {
		case certificates == nil && err == nil:
			t.Error("answered without a certificate")
		case certificates == nil:
		case err != nil:
			t.Error(err)
		case r.StatusCode != http.StatusOK || r.ProtoMajor != 1:
			t.Error(r.Status, r.Proto)
		}
		if err == nil {
			_ = r.Body.Close()
		}
	}
	for _, files := range []serve.TLS{{CertFile: "none", KeyFile: key},
		{CertFile: cert, KeyFile: key, ClientCAFile: key}} {
		if _, err := loadTLS(files); err == nil {
			t.Errorf("%+v is taken", files)
		}
	}
}

// newCertificate makes a self-signed certificate.
func newCertificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private := stagestest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der := stagestest.Must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY",
		stagestest.Must(x509.MarshalPKCS8PrivateKey(private)))
}

// Whatever changes meanwhile, an answer comes from the one pair that it names.
func TestAnswersComeFromOnePair(t *testing.T) {
	one, rows := pairOf(t, stagestest.Binary)
	two, err := featurize.NewPair(one.Set, otherModel(one))
	must(t, err)
	pairs := []*featurize.Pair{one, two}
	d := newTestServer(t, one, nil)
	part := rows.NewSlice(0, 70) // two blocks
	defer part.Release()
	body := formatstest.JSON(t, part)
	want := map[string][]byte{}
	for _, pair := range pairs {
		d.pairs.Serve(pair)
		want[pair.ModelID()] = slices.Clone(d.post("/v1/predict", body).Body.Bytes())
	}
	if bytes.Equal(want[one.ModelID()], want[two.ModelID()]) {
		t.Fatal("the pairs give the same answers")
	}
	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for range 100 {
				w := d.post("/v1/predict", body)
				if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want[w.Header().Get(headerModel)]) {
					t.Errorf("status %d: %.200s", w.Code, w.Body)
				}
			}
		})
	}
	go func() {
		asking.Wait()
		close(done)
	}()
	for i := 0; ; i++ {
		select {
		case <-done:
			d.free()
			return
		default:
			d.pairs.Serve(pairs[i%2])
		}
	}
}
