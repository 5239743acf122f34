package oauth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Token is a bearer token. It prints itself without its text.
type Token struct {
	text string
	end  time.Time // zero = it does not say
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

// claims are what a token that is a JWT says of itself. Nothing rests on them: brokers check it.
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

// Claims is what brokers decide by, as far as the token shows it: by whom and for whom it was made, and when it ends.
func (t Token) Claims() string {
	var said []string
	c, ok := t.claims()
	if ok {
		orNone := func(raw []byte) string {
			if len(raw) == 0 {
				return "none"
			}
			return oneLine(string(raw))
		}
		said = append(said, fmt.Sprintf("issuer %q", oneLine(c.Issuer)), "audience "+orNone(c.Audience), "scope "+orNone(append(c.Scope, c.Scopes...)))
	}
	switch left := time.Until(t.end).Round(time.Second); {
	case t.end.IsZero():
	case left > 0:
		said = append(said, fmt.Sprintf("good for %v", left))
	default:
		said = append(said, fmt.Sprintf("ended %v ago", -left))
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

// tokenOf returns a token from text: a token, or what a token endpoint would answer. life is how long it is good for; 0
// if only the token may say so.
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
		seconds, _ := answer.Life.Float64() // without one, the token may say so
		text, life = answer.Text, time.Duration(seconds*float64(time.Second))
	}
	if text == "" {
		return Token{}, fmt.Errorf("no token")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Token{}, fmt.Errorf("not a token, but text with spaces or other characters that tokens do not have")
	}
	t := Token{text: text}
	if c, ok := t.claims(); life > 0 {
		t.end = time.Now().Add(life)
	} else if ok && c.Ends > 0 {
		t.end = time.Unix(int64(c.Ends), 0)
	}
	if !t.lives(time.Now()) {
		return Token{}, fmt.Errorf("a token that ended %v ago, or the clocks differ", time.Since(t.end).Round(time.Second))
	}
	return t, nil
}

const maxSaid = 300 // bytes of what somebody said that an error shows

var tokenLike = regexp.MustCompile(`[A-Za-z0-9+/=_.~%-]{40,}`)

// visible is what somebody said, without the secrets and whatever may be a token.
func visible(said string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	return oneLine(tokenLike.ReplaceAllString(said, "…"))
}

// oneLine is a text without control characters, cut where it is long.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}
