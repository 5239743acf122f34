package main

import (
	"fmt"
	"os"
	"strings"
)

// replace puts text into a section of a page.
func replace(path, section, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- results: "+section+" -->\n", "<!-- results: end -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no section %q that ends", path, section)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644) //nolint:gosec // a page of the documentation
}
