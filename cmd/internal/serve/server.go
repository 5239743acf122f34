package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
)

const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	// sendTimeout is how long a client may take to read its answer.
	sendTimeout = 30 * time.Second
	headerBytes = 16 << 10
)

// Options configure a server.
type Options struct {
	Limiter *serve.Limiter
	Serving *meter.Serving
	Model   string // the pair's name in version 2 of the protocol: the pipeline's name
	Version string // of the program
	Logger  *zap.Logger
}

// Server is a listening server.
type Server struct {
	Options
	config   *serve.Config
	listener net.Listener
	http     *http.Server
	stopping atomic.Bool
	served   chan struct{} // closed when serving has ended
}

// Start listens and serves in the background until Close.
func Start(o Options) (*Server, error) {
	s := &Server{Options: o, config: o.Limiter.Config(), served: make(chan struct{})}
	secured, err := loadTLS(s.config.TLS)
	if err != nil {
		return nil, err
	}
	s.listener, err = net.Listen("tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	s.http = &http.Server{
		Handler:           admin.OwnHost(s.listener, s.routes()),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       s.config.Timeout,
		WriteTimeout:      2*s.config.Timeout + sendTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          zap.NewStdLog(o.Logger.Named("http")),
		// HTTP/1.1 only: a connection has one request at a time, so limiting connections limits the
		// requests in progress.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	listener := admin.Bound(s.listener, s.http, s.config.Connections)
	if secured != nil {
		listener = tls.NewListener(listener, secured)
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("HTTP server failed; rows are no longer served", zap.Error(err))
		}
	}()
	s.warn()
	return s, nil
}

// warn logs if the server answers anyone.
func (s *Server) warn() {
	address, ok := s.listener.Addr().(*net.TCPAddr)
	if ok && !address.IP.IsLoopback() && s.config.Token == "" && s.config.TLS.ClientCAFile == "" {
		s.Logger.Warn("server answers any client that can reach it (set serve.token or serve.tls.client_ca_file)",
			zap.String("address", s.Addr()))
	}
}

// Addr is the address that it listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stopping makes the server report that it is not ready. It keeps answering, but closes each
// connection after its answer.
func (s *Server) Stopping() { s.stopping.Store(true) }

// Ready reports whether there is a pair to serve, with details.
func (s *Server) Ready() (ok bool, detail string) {
	pairs := s.Limiter.Pairs()
	pair, waiting := pairs.Served(), pairs.Waiting()
	switch {
	case s.stopping.Load():
		return false, "stopping"
	case pair == nil && waiting == "":
		return false, "still reading the topics"
	case pair == nil:
		return false, waiting
	}
	detail = "feature set " + pair.SetID()
	if pair.Model != nil {
		detail += ", model " + pair.ModelID()
	}
	if waiting != "" {
		detail += "; " + waiting
	}
	return true, detail
}

// Close waits for the requests in progress until ctx ends, and then cuts the rest; it reports
// whether there were any.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	<-s.served
	return err
}
