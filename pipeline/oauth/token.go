package oauth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Token is a bearer token. Its text is not printed.
type Token struct {
	text string
	end  time.Time // expiry; zero = unknown
}

// Bearer returns the text, for brokers and registries only.
func (t Token) Bearer() string { return t.text }

// String implements [fmt.Stringer].
func (t Token) String() string { return "a token" + t.Claims() }

// GoString implements [fmt.GoStringer].
func (t Token) GoString() string { return t.String() }

func (t Token) lives(now time.Time) bool {
	return t.text != "" && (t.end.IsZero() || now.Before(t.end))
}

// claims are the unverified claims of a JWT, for messages and its expiry; brokers verify the token.
type claims struct {
	Issuer   string          `json:"iss"`
	Audience json.RawMessage `json:"aud"` // a text or a list
	Scope    json.RawMessage `json:"scope"`
	Scopes   json.RawMessage `json:"scp"`
	Ends     float64         `json:"exp"` // seconds
}

func (t Token) claims() (c claims, ok bool) {
	parts := strings.Split(t.text, ".")
	if len(parts) != 3 {
		return c, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(text, &c) == nil
}

// Claims describes the claims by which brokers accept a token: issuer, audience, scope and expiry.
func (t Token) Claims() string {
	var parts []string
	c, ok := t.claims()
	if ok {
		orNone := func(raw []byte) string {
			if len(raw) == 0 {
				return "none"
			}
			return pipeline.Quote(string(raw))
		}
		parts = append(parts,
			fmt.Sprintf("issuer %q", pipeline.Quote(c.Issuer)),
			"audience "+orNone(c.Audience),
			"scope "+orNone(append(c.Scope, c.Scopes...)))
	}
	switch left := time.Until(t.end).Round(time.Second); {
	case t.end.IsZero():
	case left > 0:
		parts = append(parts, fmt.Sprintf("valid for %v", left))
	default:
		parts = append(parts, fmt.Sprintf("expired %v ago", -left))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Bounds of the end of a token; longer lives are cut.
const (
	maxLifeSeconds = 1_000_000_000   // the greatest duration has nine times as many
	lastEnd        = 253_402_300_799 // the last second of 9999
)

// tokenOf parses a token, or the JSON of a token endpoint. life is its lifetime; 0 = taken from its
// claims.
func tokenOf(text string, life time.Duration) (Token, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		var answer struct {
			Text string      `json:"access_token"`
			Life json.Number `json:"expires_in"`
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			return Token{}, fmt.Errorf("neither a token nor JSON with access_token and expires_in")
		}
		seconds, _ := answer.Life.Float64() // zero if absent
		if seconds < 0 {
			return Token{}, fmt.Errorf("a token that expires in %v seconds", seconds)
		}
		text = answer.Text
		life = time.Duration(min(seconds, maxLifeSeconds) * float64(time.Second))
	}
	if len(text) > maxTokenBytes {
		return Token{}, fmt.Errorf("a token of %d bytes, at most %d are allowed", len(text), maxTokenBytes)
	}
	if text == "" {
		return Token{}, fmt.Errorf("no token")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Token{}, fmt.Errorf("text with spaces or other characters that are invalid in tokens")
	}
	t := Token{text: text}
	if c, ok := t.claims(); life > 0 {
		t.end = time.Now().Add(life)
	} else if ok && c.Ends > 0 {
		t.end = time.Unix(int64(min(c.Ends, lastEnd)), 0)
	}
	if !t.lives(time.Now()) {
		return Token{}, fmt.Errorf("a token that expired %v ago, or the clocks differ", time.Since(t.end).Round(time.Second))
	}
	return t, nil
}
