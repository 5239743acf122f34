package kafkatest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// TokenEndpoint issues tokens for the user [Admin], which a secured cluster accepts.
type TokenEndpoint struct {
	config oauth.Config
	key    *rsa.PrivateKey
	life   time.Duration

	mu     sync.Mutex // guards the fields below
	fault  string
	claims map[string]any
	issued map[string][]string
}

// TokenEndpoint starts an endpoint whose tokens have the given lifetime.
func (c *Cluster) TokenEndpoint(t testing.TB, life time.Duration) *TokenEndpoint {
	t.Helper()
	block, _ := pem.Decode([]byte(c.Read(t, "signer.key")))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "client-secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &TokenEndpoint{key: key.(*rsa.PrivateKey), life: life, issued: map[string][]string{}}
	server := httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(server.Close)
	e.config = oauth.Config{
		TokenEndpoint:    server.URL,
		AllowPlaintext:   true,
		ClientID:         "eerf",
		ClientSecretFile: secret,
		Scope:            "kafka",
		Timeout:          time.Second,
	}
	return e
}

// Config returns the configuration of clients that use the endpoint.
func (e *TokenEndpoint) Config() oauth.Config { return e.config }

// Faults of a [TokenEndpoint].
const (
	Away   = "away"   // ends connections
	Slow   = "slow"   // never answers
	Page   = "page"   // answers with HTML
	Forged = "forged" // issues tokens with a wrong signature
)

// Fail sets the fault of the endpoint; empty = none.
func (e *TokenEndpoint) Fail(fault string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault = fault
}

// Claim sets claims of further tokens.
func (e *TokenEndpoint) Claim(claims map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claims = claims
}

// Issued returns the tokens that were issued to a client.
func (e *TokenEndpoint) Issued(client string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.issued[client])
}

func (e *TokenEndpoint) answer(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	fault, claims := e.fault, e.claims
	e.mu.Unlock()
	switch {
	case fault == Away:
		panic(http.ErrAbortHandler)
	case fault == Slow:
		_ = r.ParseForm() // reads the body, so that the server notices the end of the connection
		<-r.Context().Done()
	case fault == Page:
		fmt.Fprint(w, "<!DOCTYPE html><p>log in")
	case r.FormValue("scope") != "kafka":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "invalid_scope"}`)
	default:
		client, _, _ := r.BasicAuth()
		token := e.sign(claims)
		if fault == Forged {
			token = token[:len(token)-8] + "AAAAAAAA"
		}
		e.mu.Lock()
		e.issued[client] = append(e.issued[client], token)
		e.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": %d}`, token, int(e.life.Seconds()))
	}
}

// sign makes a token.
func (e *TokenEndpoint) sign(other map[string]any) string {
	part := func(v map[string]any) string {
		text, _ := json.Marshal(v) // no value here fails
		return base64.RawURLEncoding.EncodeToString(text)
	}
	now := time.Now()
	claims := map[string]any{
		"iss":   "issuer",
		"aud":   "kafka",
		"sub":   Admin,
		"scope": "kafka",
		"iat":   now.Unix(),
		"exp":   now.Add(e.life).Unix(),
	}
	maps.Copy(claims, other)
	text := part(map[string]any{"alg": "RS256", "kid": "1"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, e.key, crypto.SHA256, sum[:])
	if err != nil {
		panic("kafkatest: " + err.Error())
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}
