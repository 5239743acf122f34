package results

import (
	"fmt"
	"os"
	"strings"
)

// replace replaces a section of a page.
func replace(path, section, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := cutSection(string(page), section)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(before+"\n"+text+"\n"+after), 0o644) //nolint:gosec // a page of the documentation
}

// cutSection splits a page into the text before a section, the section itself, and the text after
// it. The markers of the section belong to the other two.
func cutSection(page, section string) (before, body, after string, err error) {
	begin, end := "<!-- results: "+section+" -->\n", "<!-- results: end -->"
	before, rest, found := strings.Cut(page, begin)
	body, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", "", "", fmt.Errorf("no section %q with an end", section)
	}
	return before + begin, body, end + after, nil
}
