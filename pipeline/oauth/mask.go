package oauth

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/pipeline"
)

const (
	maxMaskable = 1 << 10 // bytes of the longest secret that is masked; with a longer one no answer is quoted
	masked      = "…"
)

// tokenLike is a run of characters that may be a token; credential is the value next to a word that
// announces one.
var (
	tokenLike  = regexp.MustCompile(`[A-Za-z0-9+/=_.~%-]{40,}`)
	credential = regexp.MustCompile(`(?i)\b((?:access|refresh|id)_token|client_(?:secret|assertion)|password|assertion|` +
		`authorization|bearer|basic)\b([^A-Za-z0-9]{1,8}(?:(?:bearer|basic)\s+)?)[^\s"'&<>,;]+`)
)

// visible is an answer for an error message, without the secrets in any encoding and without
// tokens.
func visible(answer string, secrets ...string) string {
	return pipeline.Quote(tokenLike.ReplaceAllString(Mask(answer, secrets...), masked))
}

// Mask replaces the secrets in an answer, in any encoding, and values that look like credentials.
func Mask(answer string, secrets ...string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	for _, secret := range secrets {
		if len(secret) > maxMaskable {
			return masked
		}
		for _, spelling := range spellings(secret) {
			answer = spelling.ReplaceAllString(answer, masked)
		}
	}
	return credential.ReplaceAllString(answer, "$1$2"+masked)
}

// spellings are patterns of a secret: each character plain, percent-encoded (also repeatedly),
// escaped as in JSON, JavaScript or HTML, or as a plus; and all of it in hexadecimal or in base64,
// where it may follow other bytes.
func spellings(secret string) []*regexp.Regexp {
	if secret == "" {
		return nil
	}
	var plain strings.Builder
	for _, r := range secret {
		plain.WriteString(spellingsOf(r))
	}
	all := []string{plain.String(), `(?i)` + hex.EncodeToString([]byte(secret))}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		// The first characters also depend on the bytes before the secret, the last ones on the
		// bytes after it.
		from := []int{0, 2, 3}[before]
		to := (before + len(secret)) * 8 / 6
		if to-from < 4 {
			continue
		}
		pattern := regexp.QuoteMeta(text[from:to])
		pattern = strings.ReplaceAll(pattern, `\+`, `(?:[+-]|%(?:25)*2[bB])`)
		pattern = strings.ReplaceAll(pattern, `/`, `(?:[/_]|\\/|%(?:25)*2[fF])`)
		all = append(all, `[A-Za-z0-9+/_-]*`+pattern+`(?:[A-Za-z0-9+/_=-]|%(?:25)*3[dD])*`)
	}
	compiled := make([]*regexp.Regexp, len(all))
	for i, pattern := range all {
		compiled[i] = regexp.MustCompile(pattern)
	}
	return compiled
}

// spellingsOf is a pattern of the spellings of one character.
func spellingsOf(r rune) string {
	var percent strings.Builder
	for _, b := range []byte(string(r)) {
		fmt.Fprintf(&percent, `%%(?:25)*(?i:%02x)`, b)
	}
	forms := []string{
		`\\*` + regexp.QuoteMeta(string(r)), // a backslash before a quote or a slash
		percent.String(),
		fmt.Sprintf(`\\+(?i:u%04x|x%02x)`, r, r),
		fmt.Sprintf(`&#(?i:0*%d|x0*%x);?`, r, r),
	}
	if r == ' ' {
		forms = append(forms, `\+`, `%(?:25)*2[bB]`)
	}
	if escaped := html.EscapeString(string(r)); escaped != string(r) {
		forms = append(forms, regexp.QuoteMeta(escaped))
	}
	if r == '"' {
		forms = append(forms, `&quot;`)
	}
	if r == '\'' {
		forms = append(forms, `&apos;`)
	}
	return `(?:` + strings.Join(forms, `|`) + `)`
}
