package clitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

// Service is a command that runs inside the test and serves HTTP until it is stopped. Its log must be JSON at level info.
type Service struct {
	t     testing.TB
	stop  context.CancelFunc
	ended chan Result
	errs  *buffer
	http  *http.Client
	base  string // URL; empty = not known yet
}

// buffer is what a command writes while the test reads it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Serve starts a service. It is stopped by the test or at its end.
func Serve(t testing.TB, root func() *cobra.Command, args ...string) *Service {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	s := &Service{
		t: t, stop: stop, ended: make(chan Result, 1), errs: new(buffer),
		http: &http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	var out bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(s.errs)
	go func() {
		code := cli.Execute(ctx, c)
		s.ended <- Result{Args: args, Code: code, Out: out.String(), Err: s.errs.String()}
	}()
	t.Cleanup(func() { s.Stop() })
	return s
}

// Stop ends the service like a signal does and returns its result; calling it again only returns the result.
func (s *Service) Stop() Result {
	s.stop()
	result := <-s.ended
	s.ended <- result
	return result
}

// Log waits for the first line of the log with the message and returns it.
func (s *Service) Log(message string) Object {
	s.t.Helper()
	var found Object
	Eventually(s.t, "log line "+message, func() bool {
		select {
		case result := <-s.ended:
			s.ended <- result
			s.t.Fatalf("ended before it logged %q:\n%s", message, result.Err)
		default:
		}
		found = logLine(s.errs.String(), message)
		return found != nil
	})
	return found
}

// logLine returns the first JSON log line with the message, or nil.
func logLine(log, message string) Object {
	for lines := bufio.NewScanner(strings.NewReader(log)); lines.Scan(); {
		var line Object
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == message {
			return line
		}
	}
	return nil
}

// URL is the URL of a path on the service.
func (s *Service) URL(path string) string {
	s.t.Helper()
	if s.base == "" {
		s.base = "http://" + s.Log("serving health, metrics and configuration").Text(s.t, "address")
	}
	return s.base + path
}

// Get requests a path from the service and returns status and body; 0 if there was no answer.
func (s *Service) Get(path string) (code int, body string) {
	s.t.Helper()
	response, err := s.http.Get(s.URL(path))
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
func (s *Service) AwaitReady() {
	s.t.Helper()
	var body string
	defer func() {
		if s.t.Failed() {
			s.t.Logf("%s\n%s", body, s.errs)
		}
	}()
	Eventually(s.t, "ready", func() bool {
		var code int
		code, body = s.Get("/readyz")
		return code == http.StatusOK
	})
}

// Ready decodes the answer of /readyz.
func (s *Service) Ready() Object {
	s.t.Helper()
	_, body := s.Get("/readyz")
	var o Object
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		s.t.Fatalf("/readyz: %v\n%s", err, body)
	}
	return o
}

// Metric returns the value of a metric of the service, 0 if it has none.
func (s *Service) Metric(name string, labels ...string) float64 {
	s.t.Helper()
	code, body := s.Get("/metrics")
	if code != http.StatusOK {
		s.t.Fatalf("/metrics: %d %s", code, body)
	}
	value, err := Metric(body, name, labels...)
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

// Metric returns the first value of a metric that has the labels (name=value), 0 if there is none, from the text that a
// metrics server reads. Values of labels must not have spaces.
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
