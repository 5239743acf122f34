package printable

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Redacted replaces secrets.
const Redacted = "REDACTED"

// addresses matches URLs in a text.
var addresses = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)

// URLs returns a text in which user, query and fragment of URLs are redacted, because they may hold
// passwords and keys.
func URLs(text string) string { return addresses.ReplaceAllStringFunc(text, withoutSecrets) }

// jsonTexts matches the strings of a JSON text.
var jsonTexts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// URLsInJSON returns a JSON text whose strings have passed [URLs].
func URLsInJSON(text []byte) []byte {
	if !bytes.Contains(text, []byte("://")) {
		return text
	}
	return jsonTexts.ReplaceAllFunc(text, func(quoted []byte) []byte {
		var plain string
		if json.Unmarshal(quoted, &plain) != nil || URLs(plain) == plain {
			return quoted
		}
		shown, err := json.Marshal(URLs(plain))
		if err != nil {
			return quoted
		}
		return shown
	})
}

// withoutSecrets redacts a URL. It does not parse it, because a URL with a fault may be shown, too.
func withoutSecrets(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	tail := ""
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest, tail = rest[:at], rest[at:]
	}
	if strings.Contains(tail, "@") && !strings.Contains(rest, "/") { // ? or # of a password
		return scheme + "://" + Redacted
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = Redacted + rest[at:]
	}
	if len(tail) > 1 {
		tail = tail[:1] + Redacted
	}
	return scheme + "://" + rest + tail
}
