package registry

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline/oauth"
)

func TestValidateNamesEveryFault(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		says   string
	}{
		"nothing":             {Config{}, ""},
		"default":             {Default(), ""},
		"two addresses":       {Config{URL: []string{"http://a:8081", "https://b/apis/ccompat/v7"}}, ""},
		"no scheme":           {Config{URL: []string{"http://a", "b:8081"}}, "url[1]"},
		"user in the address": {Config{URL: []string{"http://u:p@a"}}, "url[0]"},
		"user alone":          {Config{User: "u"}, "password_file"},
		"certificate alone":   {Config{TLS: TLS{CertFile: "c"}}, "tls.cert_file"},
		"readable":            {Config{URL: []string{"http://a"}, User: "u", PasswordFile: "p"}, "allow_plaintext"},
		"meant to be":         {Config{URL: []string{"http://a"}, User: "u", PasswordFile: "p", AllowPlaintext: true}, ""},
		"oauth":               {Config{URL: []string{"https://a"}, OAuth: oauth.Config{TokenFile: "t"}}, ""},
		"oauth of nothing":    {Config{OAuth: oauth.Config{Scope: "s"}}, "oauth.token_endpoint"},
		"oauth and user": {
			Config{User: "u", PasswordFile: "p", OAuth: oauth.Config{TokenFile: "t"}},
			"oauth.token_endpoint",
		},
		"oauth readable": {Config{URL: []string{"http://a"}, OAuth: oauth.Config{TokenFile: "t"}}, "allow_plaintext"},
		"timeout":        {Config{Timeout: -time.Second}, "timeout"},
	} {
		if err := c.config.Validate(); (err == nil) != (c.says == "") ||
			err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRequests checks that requests carry the token and the configured headers, and that refusals
// differ from temporary faults.
func TestRequests(t *testing.T) {
	status, body := http.StatusOK, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer abc" || r.Header.Get("Target-Sr-Cluster") != "lsrc-1" {
			t.Errorf("%v", r.Header)
		}
		w.WriteHeader(status)
		switch {
		case status != http.StatusOK:
			_, _ = io.WriteString(w, body)
		case strings.HasSuffix(r.URL.Path, "/666"):
			_, _ = io.WriteString(w, `{"schema": "`+strings.Repeat("x", FetchBytes)+`"}`)
		default:
			_, _ = io.WriteString(w, `{"schemaType": "PROTOBUF", "schema": "x"}`)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	token, ca := filepath.Join(dir, "token"), filepath.Join(dir, "ca.pem")
	if err := errors.Join(
		os.WriteFile(token, []byte("abc\n"), 0o600), os.WriteFile(ca, certificate(server), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	client, err := New(Config{URL: []string{server.URL}, TLS: TLS{CAFile: ca},
		OAuth: oauth.Config{TokenFile: token, Extensions: []string{"target-sr-cluster=lsrc-1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if schema, err := client.Fetch(t.Context(), ID{Number: 12}); err != nil || schema.Type != TypeProtobuf ||
		schema.Text != "x" {
		t.Errorf("%+v, %v", schema, err)
	}
	if _, err := client.Fetch(t.Context(), ID{Number: 666}); !errors.Is(err, ErrNoSchema) ||
		!strings.Contains(err.Error(), "too large") {
		t.Errorf("endless response: %v", err)
	}
	for _, c := range []struct {
		status int
		body   string
		no     bool
	}{
		{404, `{"error_code": 40403, "message": "no"}`, true},
		{404, `{"error_code": 40401, "message": "no"}`, true},
		{404, `{"error_code": 404, "message": "HTTP 404 Not Found"}`, false},
		{404, `<html>default backend - 404</html>`, false},
		{404, strings.Repeat("x", FetchBytes+1), false},
		{404, ``, false},
		{404, `{"message": "no"}`, false},
		{400, `{"error_code": 400, "message": "no"}`, true},
		{400, `{"error_code": 42201, "message": "no"}`, true},
		{400, `bad request`, false},
		{409, `{"error_code": 409, "message": "no"}`, true},
		{422, `{"error_code": 42202, "message": "no"}`, true},
		{422, `no`, false},
		{401, `{"error_code": 40101, "message": "no"}`, false},
		{403, `{"error_code": 40301, "message": "no"}`, false},
		{429, `{"error_code": 429, "message": "no"}`, false},
		{500, `{"error_code": 50001, "message": "no"}`, false},
		{503, `{"error_code": 40403, "message": "no"}`, false},
		{502, strings.Repeat("x", FetchBytes+1), false},
	} {
		status, body = c.status, c.body
		if _, err := client.Fetch(t.Context(), ID{Number: 12}); err == nil || errors.Is(err, ErrNoSchema) != c.no {
			t.Errorf("status %d, %.60s: %.200v", status, body, err)
		}
	}
	if _, err := client.Fetch(t.Context(), ID{Number: 1 << 31}); !errors.Is(err, ErrNoSchema) {
		t.Errorf("invalid schema id: %v", err)
	}
}

// TestErrorsContainNoToken uses a token command that fails.
func TestErrorsContainNoToken(t *testing.T) {
	client, err := New(Config{URL: []string{"https://127.0.0.1:1"}, OAuth: oauth.Config{TokenCommand: []string{"false"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Fetch(t.Context(), ID{Number: 12}); err == nil || errors.Is(err, ErrNoSchema) ||
		!strings.Contains(err.Error(), "token_command false: exit status 1") {
		t.Errorf("%v", err)
	}
}

func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
