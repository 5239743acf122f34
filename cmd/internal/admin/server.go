package admin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"
)

// Time limits for clients. Longer answers, such as event streams, extend their own deadline with an
// [http.ResponseController].
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	bodyBytes     = 64 << 10 // of the symbols of a profile; no other endpoint has a body
	// maxConnections bounds the memory that clients hold; it counts as part of the process.
	maxConnections = 256
)

// Options configure a server.
type Options struct {
	Listen   string // address, host:port; port 0 takes any
	Pprof    bool
	Pipeline string // name of the pipeline, which /readyz shows

	Ready   func(ctx context.Context) []Condition
	Metrics http.Handler
	Version any                    // shown as JSON
	Config  func() ([]byte, error) // YAML without secrets
	// Mount adds more handlers. It may be nil.
	Mount func(mux *http.ServeMux)

	Logger *zap.Logger
}

// Server is a listening server.
type Server struct {
	listener net.Listener
	http     *http.Server
	health   *health
	served   chan struct{} // closed when serving has ended
	end      context.CancelFunc
}

// Start listens and serves in the background until Close. If the address is taken, the error wraps
// syscall.EADDRINUSE.
func Start(o Options) (*Server, error) {
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &Server{listener: listener, health: newHealth(o.Pipeline, o.Ready), served: make(chan struct{}), end: end}
	s.http = &http.Server{
		Handler:           s.mux(o),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headerBytes,
		ErrorLog:       zap.NewStdLog(o.Logger.Named("http")),
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}
	bounded := Bound(listener, s.http, maxConnections)
	go func() {
		defer close(s.served)
		if err := s.http.Serve(bounded); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Error("HTTP server failed; health and metrics are unavailable", zap.Error(err))
		}
	}()
	return s, nil
}

// Addr is the address that it listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stopping makes the process report that it is not ready, so that it receives no new work.
// Everything else is still answered.
func (s *Server) Stopping() { s.health.stopping.Store(true) }

// closePatience bounds the wait for answers in progress on Close.
const closePatience = 2 * time.Second

// Close ends the requests' contexts, waits briefly for answers in progress, and cuts the rest.
func (s *Server) Close() {
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.served
}

func (s *Server) mux(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", live)
	mux.HandleFunc("GET /readyz", s.health.ready)
	mux.Handle("GET /metrics", o.Metrics)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, o.Version) })
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) { writeConfig(w, o.Config) })
	if o.Pprof {
		mountPprof(mux)
	}
	if o.Mount != nil {
		o.Mount(mux)
	}
	return plain(OwnHost(s.listener, http.MaxBytesHandler(mux, bodyBytes)))
}

// OwnHost refuses requests to a loopback listener that name a host other than this machine.
// Otherwise a foreign page in a browser on this machine could resolve its own name to the loopback,
// send requests here and read the answers (DNS rebinding).
func OwnHost(listener net.Listener, next http.Handler) http.Handler {
	if address, ok := listener.Addr().(*net.TCPAddr); !ok || !address.IP.IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			http.Error(w, "this address only answers requests for localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plain keeps browsers from sniffing the type of answers, embedding them and storing them.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func writeConfig(w http.ResponseWriter, config func() ([]byte, error)) {
	text, err := config()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, _ = w.Write(text) // the client may have disconnected
}
