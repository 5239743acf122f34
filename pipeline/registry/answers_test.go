package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// TestErrorsOfAnswersAreShortAndWithoutSecrets uses a registry that repeats the request in a long
// page.
func TestErrorsOfAnswersAreShortAndWithoutSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		text := fmt.Sprintf("\x1b[2J%s %s %q %s", r.Header.Get("Authorization"), r.URL, password, strings.Repeat("x", 60<<10))
		switch {
		case strings.HasSuffix(r.URL.Path, "/ids/1"):
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(text))
		case strings.HasSuffix(r.URL.Path, "/ids/2"):
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"error_code": 40403, "message": text})
		default:
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("S3cr!t/w0rd"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := New(Config{
		URL:            []string{server.URL + "/base?key=S3cr"},
		User:           "eerf",
		PasswordFile:   file,
		AllowPlaintext: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, err error) {
		t.Helper()
		if err == nil || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %.600q", name, err)
			return
		}
		for _, part := range []string{"S3cr", "w0rd", "ZWVyZj"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s reveals %s: %v", name, part, err)
			}
		}
	}
	_, err = client.Fetch(t.Context(), ID{Number: 1})
	check("a page", err)
	_, err = client.Fetch(t.Context(), ID{Number: 2})
	check("a refusal", err)
	if !errors.Is(err, ErrNoSchema) {
		t.Errorf("refused request: %v", err)
	}
	check("HTML", client.Answers(t.Context()))
	server.Close()
	_, err = client.Fetch(t.Context(), ID{Number: 3})
	check("no server", err)
}

// TestFetchEndsInTime uses references that each take almost the timeout of a request.
func TestFetchEndsInTime(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		select {
		case <-time.After(60 * time.Millisecond):
		case <-r.Context().Done():
		}
		next := []map[string]any{{"name": fmt.Sprint(n), "subject": fmt.Sprint(n), "version": 1}}
		_ = json.NewEncoder(w).
			Encode(map[string]any{"id": 1, "subject": "s", "version": 1, "schema": "x", "references": next})
	}))
	defer server.Close()
	client, err := New(Config{URL: []string{server.URL}, Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Fetch(t.Context(), ID{Number: 1})
	if err == nil || pipeline.IsPermanent(err) || !strings.Contains(err.Error(), "not complete within 600ms") ||
		asked.Load() > 12 {
		t.Errorf("after %d requests: %v", asked.Load(), err)
	}
}

// An answer without a schema is a refusal if the registry answers other requests, and otherwise
// comes from something in its place, such as a page that asks for a login.
func TestUnreadableAnswers(t *testing.T) {
	var well atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "[]"
		if strings.Contains(r.URL.Path, "/ids/") || !well.Load() {
			text = "<html>" + strings.Repeat("x", FetchBytes-6)
		}
		if strings.HasSuffix(r.URL.Path, "/ids/2") {
			w.WriteHeader(http.StatusNotFound)
			text = `{"error_code":40403,"message":"` + strings.Repeat("x", 2*maxErrorPage)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	client, err := New(Config{URL: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, answers := range []bool{false, true} {
		well.Store(answers)
		for id := range uint32(3) {
			if _, err := client.Fetch(t.Context(), ID{Number: id}); err == nil || errors.Is(err, ErrNoSchema) != answers {
				t.Errorf("schema %d of a registry that answers (%v): %v", id, answers, err)
			}
		}
	}
}
