package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// collected are the spans that a collector received, by program.
type collected struct {
	mu    sync.Mutex
	spans map[string][]*trace.Span
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range request.GetResourceSpans() {
		var service string
		for _, attribute := range of.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				service = attribute.GetValue().GetStringValue()
			}
		}
		for _, scope := range of.GetScopeSpans() {
			c.spans[service] = append(c.spans[service], scope.GetSpans()...)
		}
	}
}

// Spans go to the configured collector, the last ones when the process ends. A span of training is in the trace of the span
// that made its features.
func TestTracesGoToACollector(t *testing.T) {
	config := servedFile(t, clitest.Broker(t))
	got := &collected{spans: map[string][]*trace.Span{}}
	server := httptest.NewServer(got)
	defer server.Close()
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	fz(t, "produce", "-c", config, "--data", clitest.File(t, "rows.csv", clitest.Mixed(2400)), "--rows-per-message", "100").Want(t, cli.ExitOK)
	s := clitest.Serve(t, newRoot, "run", "-c", config, "--set", "traces.endpoint="+server.URL+"/v1/traces",
		"--set", "traces.sample_ratio=1", "--set", "train.interval=50ms", "--set", "train.min_rows=50")
	clitest.Eventually(t, "all rows trained on", func() bool {
		return metric(t, s, "eerf_messages_total", "stage=train", "outcome=used") == 24
	})
	s.Stop().Want(t, cli.ExitOK)

	parents, named := map[string]string{}, map[string]int{}
	for _, span := range got.spans["eerf-featurizer"] {
		parents[string(span.GetTraceId())+string(span.GetSpanId())] = span.GetName()
		named[span.GetName()]++
	}
	if named["featurize default.events"] != 24 || named["train default.features"] != 24 || named["subsample default.events"] == 0 {
		t.Errorf("spans %v", named)
	}
	for _, span := range got.spans["eerf-featurizer"] {
		parent := parents[string(span.GetTraceId())+string(span.GetParentSpanId())]
		if want := map[string]string{"train default.features": "featurize default.events"}[span.GetName()]; parent != want {
			t.Errorf("span %s has the parent %q, want %q", span.GetName(), parent, want)
		}
	}
}
