package pipeline_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/pipeline"
)

func TestPrintableURLsHaveNoSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:se/cr@et@host:8081/path?key=secret#secret": "https://host:8081/path",
		"http://host": "http://host", "host:9092": "host:9092", "u:secret@host:9092": "host:9092", "host?secret": "host",
		"https://host/a?q=https://u:secret@x/": "https://host/a", "": "",
	} {
		if got := pipeline.PrintableURL(address); got != want || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestQuotedTextIsShortAndWithoutSecrets(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, text := range []string{long, "a\x1b[2J\nb", "\xff", `Get "https://u:secret@host/x?key=secret": EOF`} {
		got := pipeline.Quote(text)
		if len(got) > 310 || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\n") || strings.Contains(got, "secret") {
			t.Errorf("%.50q becomes %q", text, got)
		}
	}
	if got := pipeline.Quote(`Get "https://u:secret@host/x?key=secret": EOF`); got != `Get "https://host/x": EOF` {
		t.Error(got)
	}
	err := pipeline.QuoteError(fmt.Errorf("%s: %w", long, http.ErrBodyNotAllowed))
	if !errors.Is(err, http.ErrBodyNotAllowed) || len(err.Error()) > 310 || pipeline.QuoteError(nil) != nil {
		t.Error(err)
	}
}
