package clitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// client closes its connections after each answer.
var client = &http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true}}

// Get requests a path from the HTTP server of a service and returns status and body; 0 if there was
// no answer.
func (p *Process) Get(t testing.TB, path string) (code int, body string) {
	t.Helper()
	if p.address == "" {
		p.address = p.LogLine(t, "serving health, metrics and configuration").Text(t, "address")
	}
	response, err := client.Get("http://" + p.address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// AwaitReady waits until the service is ready.
func (p *Process) AwaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, "ready", func() bool {
		code, _ := p.Get(t, "/readyz")
		return code == http.StatusOK
	})
}

// Metric returns the value of a metric of the service, 0 if it has none.
func (p *Process) Metric(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	code, body := p.Get(t, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	value, err := Metric(body, name, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// logLine returns the first JSON log line with the message, or nil.
func logLine(log, message string) Object {
	for text := range strings.Lines(log) {
		var line Object
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == message {
			return line
		}
	}
	return nil
}

// Metric returns the first value of a metric that has the labels (name=value), 0 if it has none,
// from the text that a metrics server reads. Values of labels must not have spaces.
func Metric(text, name string, labels ...string) (float64, error) {
	for line := range strings.Lines(text) {
		metric, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		own, rest, _ := strings.Cut(metric, "{")
		matches := own == name
		for _, label := range labels {
			key, word, _ := strings.Cut(label, "=")
			matches = matches && strings.Contains(","+rest, fmt.Sprintf(",%s=%q", key, word))
		}
		if matches {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, nil
}
