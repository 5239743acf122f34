package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// Spans reach the configured collector, the last ones when the process ends. Tests of the stages
// check their contents.
func TestTracesReachCollector(t *testing.T) {
	config := servedFile(t, clitest.Broker(t))
	var mu sync.Mutex
	received := map[string]string{} // by path; names of spans are plain text in the bytes of a request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		mu.Lock()
		defer mu.Unlock()
		received[r.URL.Path] += string(body)
	}))
	defer server.Close()
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	fz(t, "produce", "-c", config, "--data", clitest.File(t, "rows.csv", clitest.Mixed(2400)),
		"--rows-per-message", "100").Want(t, cli.ExitOK)
	s := service(t, "run", "-c", config, "--set", "traces.endpoint="+server.URL+"/v1/traces",
		"--set", "traces.sample_ratio=1", "--set", "train.interval=50ms", "--set", "train.min_rows=50")
	clitest.Eventually(t, "training on all rows", func() bool {
		return s.Metric(t, "eerf_messages_total", "stage=train", "outcome=used") == 24
	})
	s.Stop(t).Want(t, cli.ExitOK)
	mu.Lock()
	defer mu.Unlock()
	for span, want := range map[string]int{"featurize default.events": 24, "train default.features": 24} {
		if n := strings.Count(received["/v1/traces"], span); n != want {
			t.Errorf("%d spans %q, want %d", n, span, want)
		}
	}
	if !strings.Contains(received["/v1/traces"], "eerf-featurizer") {
		t.Error("no span names its service")
	}
}
