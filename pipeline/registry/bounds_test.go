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
	"testing"
)

const smallSchema = `{"schema": "{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}"}`

// TestCredentialsStayAtTheConfiguredAddress checks that only redirects within the configured
// address are followed.
func TestCredentialsStayAtTheConfiguredAddress(t *testing.T) {
	leaked := ""
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		leaked = user + ":" + password
		_, _ = w.Write([]byte(smallSchema))
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			_, _ = w.Write([]byte(smallSchema))
		case strings.HasPrefix(r.URL.Path, "/schemas/ids/1"):
			http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/schemas/ids/2"): // another port of the same host
			http.Redirect(w, r, strings.Replace(plain.URL, "http:", "https:", 1)+r.URL.Path, http.StatusMovedPermanently)
		default:
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusMovedPermanently)
		}
	}))
	defer secure.Close()
	dir := t.TempDir()
	ca, password := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "password")
	if err := errors.Join(
		os.WriteFile(ca, certificate(secure), 0o600), os.WriteFile(password, []byte("secret"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	client, err := New(Config{URL: []string{secure.URL}, User: "eerf", PasswordFile: password, TLS: TLS{CAFile: ca}})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint32(2) {
		if _, err := client.Fetch(t.Context(), ID{Number: id + 1}); err == nil || errors.Is(err, ErrNoSchema) ||
			!strings.Contains(err.Error(), "redirect") {
			t.Errorf("schema %d: %v", id+1, err)
		}
	}
	if leaked != "" {
		t.Errorf("another server received %q", leaked)
	}
	if _, err := client.Fetch(t.Context(), ID{Number: 3}); err != nil {
		t.Errorf("redirect within the address: %v", err)
	}
}

// TestFetchIsBoundedWithItsReferences checks that fetching stops when a schema and its references
// are too large together.
func TestFetchIsBoundedWithItsReferences(t *testing.T) {
	asked, doc := 0, strings.Repeat("d", FetchBytes/4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if strings.HasPrefix(r.URL.Path, "/schemas/ids/") {
			var list []map[string]any
			for i := range maxReferences {
				list = append(list, map[string]any{"name": fmt.Sprintf("r%d", i), "subject": fmt.Sprintf("s%d", i), "version": 1})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"schema": "x", "references": list})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": 100, "subject": "s", "version": 1, "schema": doc})
	}))
	defer server.Close()
	client, err := New(Config{URL: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Fetch(t.Context(), ID{Number: 1}); !errors.Is(err, ErrNoSchema) {
		t.Errorf("%v", err)
	}
	if asked > 6 {
		t.Errorf("%d requests for a schema that exceeds the limit at the fifth", asked)
	}
}
