package oauth

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const awkward = `S3cr!t/P@ss w0rd"<é>+\`

// encodings are the encodings of a secret in responses.
func encodings(secret string) map[string]string {
	inJSON, _ := json.Marshal(secret)
	basic := func(id string) string { return base64.StdEncoding.EncodeToString([]byte(id + ":" + secret)) }
	browser := strings.NewReplacer("%21", "!", "+", "%20", "%27", "'").Replace(url.QueryEscape(secret))
	return map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "browser": browser,
		"twice": url.QueryEscape(url.QueryEscape(secret)),
		"JSON":  string(inJSON), "slash": strings.ReplaceAll(string(inJSON), "/", `\/`), "HTML": html.EscapeString(secret),
		"base64": base64.StdEncoding.EncodeToString(
			[]byte(secret),
		), "raw base64": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"basic": basic(
			"i",
		), "basic 2": basic("id"), "basic 3": basic("ids"), "escaped basic": url.QueryEscape(basic("kafka")),
		"hex": hex.EncodeToString([]byte(secret)), "go": fmt.Sprintf("%q", secret),
	}
}

// TestSecretsAreMaskedInEveryEncoding looks for remains of the middle of a secret.
func TestSecretsAreMaskedInEveryEncoding(t *testing.T) {
	for _, secret := range []string{awkward, "S3cr!t/P@ss w0rd", "abcdefgh"} {
		for name, text := range encodings(secret) {
			got := visible("before "+text+" after", secret)
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") ||
				strings.Contains(got, strings.Trim(text, `"`)) {
				t.Errorf("%s of %q: %q becomes %q", name, secret, text, got)
			}
			if left := strings.Trim(got, `"\`); len(left) > len("before … after")+4 {
				t.Errorf("%s of %q: masking %q leaves %q", name, secret, text, got)
			}
		}
	}
	for _, text := range []string{
		`< {"access_token":"short","expires_in":1}`,
		"client_secret=short&x=1",
		"Authorization: Basic c2hvcnQ",
		"authorization: bearer short",
		`{"password": "short"}`,
	} {
		if got := visible(text); strings.Contains(got, "short") || strings.Contains(got, "c2hvcnQ") {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := visible("the client is unknown; basic facts, bearer tokens only"); !strings.HasPrefix(
		got,
		"the client is unknown;",
	) {
		t.Errorf("prose was masked: %q", got)
	}
	if got := visible("text", strings.Repeat("x", 2000)); got != masked {
		t.Errorf("answer with a long secret was quoted: %q", got)
	}
}

// TestAnEchoingEndpointDoesNotRevealTheSecret uses an endpoint whose responses repeat the request.
func TestAnEchoingEndpointDoesNotRevealTheSecret(t *testing.T) {
	const secret = "S3cr!t/P@ss w0rd"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "bad request: %s\n%s", r.Header.Get("Authorization"), r.Form.Encode())
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // in the header and in the form
		_, err := Config{
			TokenEndpoint:    server.URL,
			AllowPlaintext:   true,
			ClientID:         "kafka",
			ClientSecretFile: file,
		}.origin().
			fetch(t.Context())
		if err == nil || !strings.Contains(err.Error(), "it answered 400") {
			t.Fatal(err)
		}
		for _, part := range []string{"S3cr", "P%40ss", "w0rd", "UzNjci"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("reveals %q: %v", part, err)
			}
		}
	}
}
