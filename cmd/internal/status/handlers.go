package status

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/eerf-stream/eerf/internal/printable"
	"github.com/eerf-stream/eerf/internal/uplot"
)

//go:embed assets
var assets embed.FS

// policy lets the page load only files of this server, run no inline scripts, and be framed by no
// other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	// firstLook is how long an answer waits for the first poll of the topics.
	firstLook = 5 * time.Second
	// heartbeat is the time after which an idle stream sends a sign of life; sendTimeout bounds a
	// client's reading.
	heartbeat   = 15 * time.Second
	sendTimeout = 20 * time.Second
)

func (p *page) register(mux *http.ServeMux) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("status: " + err.Error()) // the folder is embedded
	}
	mux.Handle("GET /{$}", http.RedirectHandler("status/", http.StatusFound))
	for path, files := range map[string]fs.FS{"/status/": files, "/status/vendor/uplot/": uplot.Files} {
		static := http.StripPrefix(path, http.FileServerFS(files))
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Referrer-Policy", "no-referrer")
			static.ServeHTTP(w, r)
		})
	}
	mux.HandleFunc("GET /api/status", p.serveSnapshot)
	mux.HandleFunc("GET /api/status/events", p.serveEvents)
}

// serveSnapshot answers with the whole snapshot. The first request waits a moment for the topics.
func (p *page) serveSnapshot(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), firstLook)
	defer cancel()
	p.awaitLook(ctx)
	p.publish()
	_, snapshot, _ := p.hub.newest(map[string]int{})
	answer(w, http.StatusOK, snapshot)
}

// failure is the body of an error response.
type failure struct {
	Error string `json:"error"`
}

// answer sends JSON.
func answer(w http.ResponseWriter, code int, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(append(printable.URLsInJSON(text), '\n')) // the client may have disconnected
}

// serveEvents sends the series, then each section as it changes, until the client disconnects or
// the server ends.
func (p *page) serveEvents(w http.ResponseWriter, r *http.Request) {
	if !p.hub.enter() {
		w.Header().Set("Retry-After", "10")
		answer(w, http.StatusServiceUnavailable, failure{fmt.Sprintf("%d pages are open already", maxStreams)})
		return
	}
	defer p.want() // keep polling the topics for a moment
	defer p.hub.leave()
	p.want()
	p.publish()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // some proxies would buffer
	out := stream{w, http.NewResponseController(w)}
	sent := map[string]int{}
	news, all, changed := p.hub.newest(sent)
	if out.send(event{"series", marshalled(all.Series)}) != nil {
		return
	}
	for {
		for _, e := range news {
			if out.send(e) != nil {
				return
			}
		}
		if out.flush() != nil || !out.await(r.Context(), changed) {
			return
		}
		news, _, changed = p.hub.newest(sent)
	}
}

// stream writes server-sent events.
type stream struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (s stream) send(e event) error {
	if err := s.controller.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", e.name, e.data)
	return err
}

func (s stream) flush() error { return s.controller.Flush() }

// await waits for a change, and sends a heartbeat if there is none in time.
func (s stream) await(ctx context.Context, changed <-chan struct{}) bool {
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-changed:
			return true
		case <-timer.C:
		}
		if s.controller.SetWriteDeadline(time.Now().Add(sendTimeout)) != nil {
			return false
		}
		if _, err := fmt.Fprint(s.w, ": nothing new\n\n"); err != nil || s.flush() != nil {
			return false
		}
		timer.Reset(heartbeat)
	}
}

// marshalled returns a value as JSON. The types of this package always encode.
func marshalled(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return []byte("null")
	}
	return text
}
