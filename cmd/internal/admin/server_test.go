package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of a server that is ready.
func options() Options {
	return Options{
		Listen: "127.0.0.1:0", Logger: zap.NewNop(), Version: map[string]string{"version": "v1"},
		Ready:   func(context.Context) []Condition { return []Condition{{Name: "broker", OK: true}} },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
		Config:  func() ([]byte, error) { return []byte("log: {}\n"), nil },
	}
}

// answer is what a server answered.
type answer struct {
	code   int
	header http.Header
	body   string
}

// start runs a server until the end of the test and returns a function that queries it.
func start(t *testing.T, o Options) (s *Server, get func(path, host string) answer) {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return s, func(path, host string) answer {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer{response.StatusCode, response.Header, string(body)}
	}
}

func TestPaths(t *testing.T) {
	o := options()
	o.Mount = func(mux *http.ServeMux) {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
	}
	s, get := start(t, o)
	for path, want := range map[string]struct {
		code int
		kind string
		body string
	}{
		"/livez":        {200, "text/plain", "ok\n"},
		"/readyz":       {200, "application/json", `"ready": true`},
		"/metrics":      {200, "text/plain", "up 1\n"},
		"/version":      {200, "application/json", `"version": "v1"`},
		"/config":       {200, "application/yaml", "log: {}\n"},
		"/":             {200, "text/plain", "a page"},
		"/nowhere":      {404, "text/plain", ""},
		"/debug/pprof/": {404, "text/plain", ""},
	} {
		a := get(path, "")
		if a.code != want.code || !strings.HasPrefix(a.header.Get("Content-Type"), want.kind) ||
			!strings.Contains(a.body, want.body) {
			t.Errorf("%s: %+v", path, a)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, a.header)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post("http://"+s.Addr()+"/livez", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", response.StatusCode)
	}
}

func TestProfilesOnlyIfConfigured(t *testing.T) {
	o := options()
	o.Pprof = true
	_, get := start(t, o)
	if a := get("/debug/pprof/goroutine?debug=1", ""); a.code != http.StatusOK ||
		!strings.Contains(a.body, "goroutine profile") {
		t.Errorf("%+v", a)
	}
}

// The answer about symbols grows with the body of the request, which is therefore bounded.
func TestBodiesAreBounded(t *testing.T) {
	o := options()
	o.Pprof = true
	s, _ := start(t, o)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	address := fmt.Sprintf("%#x+", reflect.ValueOf(options).Pointer()) // of a function
	response, err := client.Post("http://"+s.Addr()+"/debug/pprof/symbol", "text/plain",
		strings.NewReader(strings.Repeat(address, 1<<18)))
	if err != nil { // the server may close the connection before it has read everything
		return
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body) // as much as arrived before the connection was closed
	if len(answer) > 16*bodyBytes {
		t.Errorf("an answer of %d bytes", len(answer))
	}
}

// A foreign page that resolves its name to the loopback is refused.
func TestLoopbackListenerRefusesForeignHosts(t *testing.T) {
	_, get := start(t, options())
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "localhost:9464": 200, "127.0.0.1:1": 200, "[::1]:1": 200,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:9464": http.StatusMisdirectedRequest,
	} {
		if a := get("/config", host); a.code != want {
			t.Errorf("host %q: %d, want %d", host, a.code, want)
		}
	}
	o := options()
	o.Listen = ":0" // the pod's own address, behind names of services
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://127.0.0.1"+s.Addr()[strings.LastIndex(s.Addr(), ":"):]+"/config", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "featurize.eerf.svc"
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("a service by its name: %d", response.StatusCode)
	}
}

func TestReadiness(t *testing.T) {
	o := options()
	o.Pipeline = "churn"
	o.Ready = func(context.Context) []Condition {
		return []Condition{{Name: "broker", OK: true}, {Name: "feature_set", Detail: `Get "https://u:hunter2@h/"`}}
	}
	s, get := start(t, o)
	a := get("/readyz", "")
	var is Readiness
	if err := json.Unmarshal([]byte(a.body), &is); err != nil {
		t.Fatal(err)
	}
	if a.code != http.StatusServiceUnavailable || is.Pipeline != "churn" || is.Ready || len(is.Conditions) != 2 ||
		is.Conditions[1].Detail != `Get "https://REDACTED@h/"` || time.Since(is.At) > time.Minute {
		t.Errorf("%+v", a)
	}
	s.Stopping()
	if a := get("/readyz", ""); a.code != http.StatusServiceUnavailable || !strings.Contains(a.body, "shutting down") {
		t.Errorf("%+v", a)
	}
	if a := get("/livez", ""); a.code != http.StatusOK {
		t.Errorf("a process that stops is alive: %d", a.code)
	}
}

// However many clients ask, the conditions are checked at most once per interval, and a result does
// not depend on the client that waits for it.
func TestConditionsAreCheckedAtMostOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		h := newHealth("", func(ctx context.Context) []Condition {
			looks.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			return []Condition{{Name: "broker", OK: ctx.Err() == nil}}
		})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		var asking sync.WaitGroup
		for range 10 {
			asking.Go(func() {
				if answer := h.readiness(gone); !answer.Ready {
					t.Errorf("%+v", answer)
				}
			})
		}
		asking.Wait()
		if n := looks.Load(); n != 1 {
			t.Errorf("checked %d times", n)
		}
		<-time.After(lookEvery)
		h.readiness(t.Context())
		if n := looks.Load(); n != 2 {
			t.Errorf("checked %d times, want one more", n)
		}
	})
}

func TestHangingCheckTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHealth("", func(ctx context.Context) []Condition {
			<-ctx.Done()
			return []Condition{{Name: "broker", Detail: ctx.Err().Error()}}
		})
		began := time.Now()
		if answer := h.readiness(t.Context()); answer.Ready || time.Since(began) != lookTimeout {
			t.Errorf("%+v after %v", answer, time.Since(began))
		}
	})
}

// Close ends a long answer, such as an event stream, and leaves no goroutine behind.
func TestCloseEndsStreams(t *testing.T) {
	o := options()
	o.Mount = func(mux *http.ServeMux) {
		mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			if err := control.SetWriteDeadline(time.Time{}); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, "data: 1\n\n")
			_ = control.Flush()
			<-r.Context().Done()
		})
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + s.Addr() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Errorf("%q, %v", line, err)
	}
	s.Close()
	if response, err := client.Get("http://" + s.Addr() + "/livez"); err == nil {
		response.Body.Close()
		t.Error("a closed server answers")
	}
}
