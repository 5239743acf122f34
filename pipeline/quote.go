package pipeline

import (
	"regexp"
	"strings"
	"unicode"
)

// maxQuoted limits the bytes of a text from outside that an error quotes.
const maxQuoted = 300

// Quote returns a text of another program for an error: one line without control characters, at
// most 300 bytes, and without secrets in its URLs.
func Quote(text string) string {
	const read = 4 * maxQuoted // enough for a line with some characters replaced
	if len(text) > read {
		text = text[:read]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	text = urlLike.ReplaceAllStringFunc(text, PrintableURL)
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return text
}

var urlLike = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)

// PrintableURL returns an address without user, query and fragment, which may hold secrets.
func PrintableURL(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	} else {
		scheme += "://"
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	// A password may contain a slash that is not escaped, so the last @ ends the user, even after a
	// slash.
	return scheme + rest[strings.LastIndexByte(rest, '@')+1:]
}

// quotedError is an error of a library, with its text quoted.
type quotedError struct{ err error }

// QuoteError returns an error whose text is quoted as by [Quote].
func QuoteError(err error) error {
	if err == nil {
		return nil
	}
	return &quotedError{err}
}

func (e *quotedError) Error() string { return Quote(e.err.Error()) }

// Unwrap returns the error of the library.
func (e *quotedError) Unwrap() error { return e.err }
