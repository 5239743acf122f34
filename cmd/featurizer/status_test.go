package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// The page is served unless it is turned off, even without a broker, and the configuration does not show its
// token.
func TestStatusPage(t *testing.T) {
	away := []string{"run", "--set", "kafka.brokers=127.0.0.1:1", "--set", "events.label=y", "--set", "admin.listen=127.0.0.1:0"}
	s := clitest.Serve(t, newRoot, append(away, "--set", "status.token=0123456789abcdef")...)
	for path, want := range map[string]string{
		"/": "EERF status", "/status/": "EERF status", "/api/status": `"broker_error"`, "/config": "enabled: true",
	} {
		if code, body := s.Get(path); code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "0123456789abcdef") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	s = clitest.Serve(t, newRoot, append(away, "--set", "status.enabled=false")...)
	for _, path := range []string{"/", "/status/", "/api/status"} {
		if code, _ := s.Get(path); code != http.StatusNotFound {
			t.Errorf("%s: %d where it is turned off", path, code)
		}
	}
}
