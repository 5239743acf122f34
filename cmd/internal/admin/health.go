package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/eerf-stream/eerf/internal/printable"
)

// Condition is a requirement of the process for its work.
type Condition struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"` // reason of a failure, or details
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Pipeline   string      `json:"pipeline"`
	Ready      bool        `json:"ready"`
	Conditions []Condition `json:"conditions"`
	At         time.Time   `json:"at"` // time of the check
}

const (
	// lookEvery is the shortest time between two checks of the conditions, however many clients
	// ask: a check costs the broker a few requests.
	lookEvery = time.Second
	// lookTimeout bounds a check: a broker that takes longer counts as unavailable.
	lookTimeout = 3 * time.Second
)

// health answers whether the process is ready.
type health struct {
	pipeline string
	look     func(ctx context.Context) []Condition
	stopping atomic.Bool

	turn chan struct{} // held while checking, so that other requests wait for the result
	last Readiness     // guarded by turn
}

func newHealth(pipeline string, look func(ctx context.Context) []Condition) *health {
	return &health{pipeline: pipeline, look: look, turn: make(chan struct{}, 1)}
}

func live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // the client may have disconnected
}

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	answer := h.readiness(r.Context())
	code := http.StatusOK
	if !answer.Ready {
		code = http.StatusServiceUnavailable
	}
	writeJSON(w, code, answer)
}

// readiness checks the conditions, or returns a recent result.
func (h *health) readiness(ctx context.Context) Readiness {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.last.At.IsZero() || time.Since(h.last.At) >= lookEvery {
		// Other requests may wait for this result, so it must not end with this client.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		defer cancel()
		h.last = Readiness{Pipeline: h.pipeline, Ready: true, Conditions: h.look(ctx), At: time.Now()}
		for _, condition := range h.last.Conditions {
			h.last.Ready = h.last.Ready && condition.OK
		}
	}
	answer := h.last
	if h.stopping.Load() {
		answer.Ready = false
		answer.Conditions = append([]Condition{{Name: "running", Detail: "the process is shutting down"}},
			answer.Conditions...)
	}
	return answer
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(append(printable.URLsInJSON(text), '\n')) // the client may have disconnected
}

// mountPprof adds the profiles of the Go runtime. Importing net/http/pprof also registered them on
// the default mux, which is not served.
func mountPprof(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
