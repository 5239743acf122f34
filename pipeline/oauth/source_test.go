package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is a secret that no error and no log line may contain.
const canary = "canary-2f1d8a"

func jwt(claims map[string]any) string {
	text, _ := json.Marshal(claims)
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(text) + "." + canary
}

// scripted is a source whose fetches are answered by a function, in fake time.
func scripted(t *testing.T, fetch func(ctx context.Context, n int) (Token, error)) (*Source, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	s, err := Open(Config{TokenCommand: []string{t.Name()}}, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	n := 0
	s.origin = origin{"https://idp/token", func(ctx context.Context) (Token, error) { n++; return fetch(ctx, n) }}
	return s, logs
}

func minute(n int) (Token, error) { return tokenOf(fmt.Sprint("token-", n), time.Minute) }

func TestTokensAreRenewedOnceInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int64
		s, _ := scripted(t, func(_ context.Context, n int) (Token, error) {
			fetches.Store(int64(n))
			time.Sleep(2 * time.Second)
			return minute(n)
		})
		defer func() {
			s.Close()
			time.Sleep(2 * time.Second) // a request may be under way
		}()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if token, err := s.Token(t.Context()); err != nil || token.Bearer() != "token-1" {
					t.Error(token, err)
				}
			})
		}
		all.Wait()
		for range 300 {
			time.Sleep(time.Second)
			began := time.Now()
			token, err := s.Token(t.Context())
			if left := time.Until(token.end); err != nil || time.Since(began) > 0 || left < 12*time.Second {
				t.Fatalf("token valid for %v after waiting %v: %v", left, time.Since(began), err)
			}
		}
		if n := fetches.Load(); n < 300/47 || n > 300/36+2 {
			t.Errorf("%d requests in five minutes for tokens that last one", n)
		}
	})
}

// TestUnavailableEndpointIsRetried makes the endpoint unavailable for two minutes: the token stays
// valid, expires, and is replaced soon after the endpoint returns.
func TestUnavailableEndpointIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, logs := scripted(t, func(_ context.Context, n int) (Token, error) {
			if at := time.Since(began); at > 30*time.Second && at < 150*time.Second {
				return Token{}, errors.New("connect: connection refused")
			}
			return minute(n)
		})
		defer s.Close()
		for at := range 200 {
			token, err := s.Token(t.Context())
			switch {
			case at < 60 && err != nil || at > 173 && err != nil:
				t.Fatalf("after %d s: %v", at, err)
			case at > 62 && at < 150:
				if err == nil || pipeline.IsPermanent(err) ||
					!strings.Contains(err.Error(), "https://idp/token: connect: connection refused") ||
					!strings.Contains(err.Error(), "the token expired") {
					t.Fatalf("after %d s: %v, %v", at, token, err)
				}
			}
			time.Sleep(time.Second)
		}
		if n := logs.FilterMessage("token not renewed; retrying while the current one is valid").Len(); n < 2 {
			t.Errorf("got %d warnings while the token was valid", n)
		}
		if n := logs.FilterMessage("token renewed after failures").Len(); n != 1 {
			t.Errorf("the endpoint's return was logged %d times", n)
		}
	})
}

func TestSlowEndpointDelaysOnlyWithoutAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := scripted(t, func(ctx context.Context, _ int) (Token, error) { <-ctx.Done(); return Token{}, ctx.Err() })
		defer s.Close()
		short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := s.Token(short); err == nil || pipeline.IsPermanent(err) ||
			!strings.Contains(err.Error(), "https://idp/token: no answer within 5s") {
			t.Errorf("caller with an ended context: %v", err)
		}
		if _, err := s.Token(t.Context()); err == nil || pipeline.IsPermanent(err) ||
			!strings.Contains(err.Error(), "no answer within 10s") {
			t.Errorf("%v", err)
		}
	})
}

// TestRefusedTokensAreReplaced reports the refusal of a new token and of an older one.
func TestRefusedTokensAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := scripted(t, func(_ context.Context, n int) (Token, error) { return minute(n) })
		defer s.Close()
		first, err := s.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ wait, want string }{{"1s", "token-1"}, {"10s", "token-2"}, {"10s", "token-2"}} {
			wait, _ := time.ParseDuration(step.wait)
			time.Sleep(wait)
			s.Refused(first)
			synctest.Wait()
			if token, _ := s.Token(t.Context()); token.Bearer() != step.want {
				t.Errorf("got token %v, want %s", token.Bearer(), step.want)
			}
		}
	})
}

// TestRefusedClientIsPermanent checks that a refusal is permanent at first, when the configuration
// is wrong, and temporary after a first token.
func TestRefusedClientIsPermanent(t *testing.T) {
	for _, had := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := scripted(t, func(_ context.Context, n int) (Token, error) {
				if had && n == 1 {
					return minute(n)
				}
				return Token{}, pipeline.Permanent(errors.New("invalid_client"))
			})
			defer s.Close()
			_, _ = s.Token(t.Context())
			time.Sleep(time.Minute)
			if _, err := s.Token(t.Context()); err == nil || pipeline.IsPermanent(err) == had {
				t.Errorf("had a token: %v: %v", had, err)
			}
		})
	}
}

func TestEqualConfigurationsShareASource(t *testing.T) {
	c := Config{TokenCommand: []string{"true"}, Extensions: []string{"logicalCluster=lkc-1"}}
	open := func(c Config) *Source {
		s, err := Open(c, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := open(c)
	c.Extensions = nil
	second := open(c)
	c.TokenCommand = []string{"false"}
	third := open(c)
	if first != second || first == third {
		t.Error("sources must be shared exactly by equal token settings")
	}
	first.Close()
	if first.ctx.Err() != nil {
		t.Error("source closed before its last user")
	}
	second.Close()
	third.Close()
	if first.ctx.Err() == nil || len(sources.by) != 0 {
		t.Error("source still open after its last user")
	}
}

// idp is a token endpoint with a fixed response.
type idp struct {
	*httptest.Server
	status     int
	kind, body string
	requests   []*http.Request
}

func newIDP(t *testing.T) (*idp, Config) {
	t.Helper()
	p := &idp{status: http.StatusOK, kind: "application/json"}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.requests = append(p.requests, r)
		w.Header().Set("Content-Type", p.kind)
		if p.status/100 == 3 {
			w.Header().Set("Location", p.URL+"/elsewhere")
		}
		w.WriteHeader(p.status)
		fmt.Fprint(w, p.body)
	}))
	t.Cleanup(p.Close)
	dir := t.TempDir()
	secret, ca := filepath.Join(dir, "secret"), filepath.Join(dir, "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	if err := errors.Join(
		os.WriteFile(secret, []byte(canary+"\n"), 0o600), os.WriteFile(ca, certificate, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return p, Config{
		TokenEndpoint:    p.URL + "/token",
		ClientID:         "eerf",
		ClientSecretFile: secret,
		Scope:            "kafka read",
		Parameters:       []string{"audience=brokers"},
		CAFile:           ca,
	}
}

func TestTokenRequest(t *testing.T) {
	p, c := newIDP(t)
	p.body = `{"access_token": "abc", "token_type": "Bearer", "expires_in": 60}`
	token, err := c.origin().fetch(t.Context())
	if left := time.Until(token.end); err != nil || token.Bearer() != "abc" || left > time.Minute ||
		left < 50*time.Second {
		t.Fatalf("%v for %v: %v", token.Bearer(), left, err)
	}
	r := p.requests[0]
	user, secret, _ := r.BasicAuth()
	if len(p.requests) != 1 || user != "eerf" || secret != canary || r.Form.Get("grant_type") != "client_credentials" ||
		r.Form.Get("scope") != "kafka read" || r.Form.Get("audience") != "brokers" {
		t.Errorf("%d requests, %s:%s %v", len(p.requests), user, secret, r.Form)
	}
}

func TestEndpointAnswers(t *testing.T) {
	p, c := newIDP(t)
	for _, answer := range []struct {
		name       string
		status     int
		kind, body string
		says       string
		permanent  bool
	}{
		{
			"a wrong secret",
			401,
			"application/json",
			`{"error":"invalid_client","error_description":"no ` + canary + `"}`,
			`401 Unauthorized: "invalid_client no …"`,
			true,
		},
		{
			"a wrong scope",
			400,
			"application/json",
			`{"error":"invalid_scope","error_description":"no such scope"}`,
			"invalid_scope no such scope",
			true,
		},
		{"an error with status 200", 200, "application/json", `{"error":"invalid_scope"}`, "invalid_scope", true},
		{
			"a page",
			200,
			"text/html; charset=utf-8",
			"<html>log in " + canary,
			`200 OK of type "text/html; charset=utf-8" without a token`,
			false,
		},
		{
			"a page of a proxy",
			503,
			"text/html",
			"<html>no\nupstream " + strings.Repeat("eyJ", 20),
			`503 Service Unavailable: "<html>no upstream …"`,
			false,
		},
		{"busy", 429, "application/json", `{"error":"slow_down"}`, "429 Too Many Requests", false},
		{"elsewhere", 307, "text/plain", "", "307 Temporary Redirect", false},
		{"no token", 200, "application/json", `{"expires_in": 60}`, "without a token", false},
		{
			"an old token",
			200,
			"application/json",
			`{"access_token": "` + jwt(map[string]any{"exp": 1}) + `"}`,
			"a token that expired",
			false,
		},
		{"a line that is none", 200, "application/json", `{"access_token": "a b"}`, "invalid in tokens", false},
		{"nothing", 200, "application/json", "", "without a token", false},
		{"endless", 200, "text/html", strings.Repeat("x", 2<<20), "without a token", false},
	} {
		p.status, p.kind, p.body = answer.status, answer.kind, answer.body
		_, err := c.origin().fetch(t.Context())
		if err == nil || !strings.Contains(err.Error(), answer.says) || pipeline.IsPermanent(err) != answer.permanent ||
			strings.Contains(err.Error(), canary) ||
			len(err.Error()) > 500 {
			t.Errorf("%s: permanent %v: %v", answer.name, pipeline.IsPermanent(err), err)
		}
	}
	for _, r := range p.requests {
		if r.URL.Path != "/token" {
			t.Errorf("a redirect was followed to %s", r.URL)
		}
	}
	p.Close()
	if _, err := c.origin().fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("unavailable endpoint: %v", err)
	}
}

func TestTokensOfFilesAndCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	soon := time.Now().Add(time.Hour).Unix()
	for _, holds := range []struct {
		name, text string
		life       time.Duration
		says       string
	}{
		{"opaque", "abc\n", 0, ""},
		{"a JWT", jwt(map[string]any{"exp": soon}) + "\n", time.Hour, ""},
		{"JSON", `{"access_token": "abc", "expires_in": 900}`, 15 * time.Minute, ""},
		{"JSON with text", `{"access_token": "abc", "expires_in": "900"}`, 15 * time.Minute, ""},
		{"over", jwt(map[string]any{"exp": 1}), 0, "expired"},
		{"nothing", "\n", 0, "no token"},
		{"a message", canary + " please log in", 0, "invalid in tokens"},
		{"half of JSON", `{"access_token": "` + canary, 0, "neither"},
	} {
		if err := os.WriteFile(file, []byte(holds.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []Config{{TokenFile: file}, {TokenCommand: []string{"cat", file}}} {
			token, err := c.origin().fetch(t.Context())
			if holds.says != "" {
				if err == nil || !strings.Contains(err.Error(), holds.says) || strings.Contains(err.Error(), canary) {
					t.Errorf("%s: %v", holds.name, err)
				}
				continue
			}
			if err != nil || token.end.IsZero() != (holds.life == 0) ||
				holds.life > 0 && (time.Until(token.end)-holds.life).Abs() > time.Minute {
				t.Errorf("%s: until %v: %v", holds.name, token.end, err)
			}
		}
	}
}

func TestTokenFileIsReread(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	s, err := Open(Config{TokenFile: file}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, step := range []struct{ text, want string }{{"one", "one"}, {"two", "two"}, {"", "two"}} {
		write(step.text)
		if token, err := s.Token(t.Context()); err != nil || token.Bearer() != step.want {
			t.Errorf("%q: %s, %v", step.text, token.Bearer(), err)
		}
	}
}

func TestCommandsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		says    string
	}{
		"missing": {[]string{"/no/such/program"}, "no such file"},
		"fails": {
			[]string{"sh", "-c", "echo " + canary + "; echo 'log in first: " + canary + "' >&2; exit 3"},
			`exit status 3: "log in first: …"`,
		},
		"is silent": {[]string{"true"}, "no token"},
	} {
		if _, err := (Config{TokenCommand: c.command}).origin().fetch(t.Context()); err == nil ||
			!strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := (Config{TokenCommand: []string{"sleep", "60"}}).origin().fetch(ctx); !errors.Is(
		err,
		context.DeadlineExceeded,
	) {
		t.Errorf("hanging command: %v", err)
	}
}

func TestTokensPrintWithoutTheirText(t *testing.T) {
	token, err := tokenOf(
		jwt(
			map[string]any{
				"iss":   "https://idp.example.com/realms/streams-of-events-of-all",
				"aud":   []string{"kafka"},
				"scope": "a b",
				"exp":   time.Now().Add(time.Minute).Unix(),
			},
		),
		0,
	)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v %+v %#v %s", token, token, token, token)
	if strings.Contains(got, canary) ||
		!strings.Contains(
			got,
			`issuer "https://idp.example.com/realms/streams-of-events-of-all", audience ["kafka"], scope "a b", valid for`,
		) {
		t.Error(got)
	}
}

func TestFaultsAreNamed(t *testing.T) {
	endpoint := Config{TokenEndpoint: "https://idp/token", ClientID: "c", ClientSecretFile: "s"}
	for name, c := range map[string]struct {
		bend func(c *Config)
		says string
	}{
		"valid":           {func(*Config) {}, ""},
		"nothing":         {func(c *Config) { *c = Config{Scope: "s"} }, "exactly one of token_endpoint"},
		"two":             {func(c *Config) { c.TokenFile = "f" }, "exactly one of token_endpoint"},
		"file":            {func(c *Config) { *c = Config{TokenFile: "f"} }, ""},
		"command":         {func(c *Config) { *c = Config{TokenCommand: []string{"c"}, Extensions: []string{"a=b"}} }, ""},
		"scope of a file": {func(c *Config) { *c = Config{TokenFile: "f", Scope: "s"} }, "token_endpoint: empty, but"},
		"readable":        {func(c *Config) { c.TokenEndpoint = "http://idp" }, "allow_plaintext"},
		"meant":           {func(c *Config) { c.TokenEndpoint, c.AllowPlaintext = "http://idp", true }, ""},
		"user in it": {
			func(c *Config) { c.TokenEndpoint = "https://u:" + canary + "@idp" },
			"token_endpoint: must be https",
		},
		"no secret":        {func(c *Config) { c.ClientSecretFile = "" }, "client_secret_file"},
		"no pair":          {func(c *Config) { c.Extensions = []string{canary} }, "extensions: each must be name=value"},
		"control":          {func(c *Config) { c.Parameters = []string{"a=b\x01"} }, "parameters: each must be name=value"},
		"negative timeout": {func(c *Config) { c.Timeout = -1 }, "timeout"},
	} {
		bent := endpoint
		c.bend(&bent)
		err := bent.Validate()
		if (err == nil) != (c.says == "") ||
			err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), canary)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	endpoint.ClientSecretFile = "/no/such/file"
	if _, err := Open(endpoint, zap.NewNop()); err == nil || !strings.Contains(err.Error(), "client_secret_file") {
		t.Errorf("missing file: %v", err)
	}
}
