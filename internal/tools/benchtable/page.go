package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// placeholder is a place for tables in a Markdown page: the section, optionally an expression that
// selects lines, and the current content.
var placeholder = regexp.MustCompile(`(<!-- benchtable: (\w+)(?: (\S+))? -->\n)(?s:.*?)(<!-- benchtable: end -->)`)

// fillPage fills the requested placeholders of a page for which the input has lines.
func (o options) fillPage(lines []*line) error {
	page, err := os.ReadFile(o.into)
	if err != nil {
		return err
	}
	var errs []error
	filled := 0
	page = placeholder.ReplaceAllFunc(page, func(old []byte) []byte {
		part := placeholder.FindSubmatch(old)
		if bytes.Count(old, []byte("<!-- benchtable: ")) > 2 {
			errs = append(errs, fmt.Errorf("no end of %s", bytes.TrimSpace(part[1])))
			return old
		}
		text, err := o.placed(string(part[2]), string(part[3]), lines)
		errs = append(errs, err)
		if text == "" {
			return old
		}
		filled++
		return slices.Concat(part[1], []byte("\n"+text), part[4])
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", o.into, err)
	}
	if filled == 0 {
		return fmt.Errorf("%s has no placeholder for the measured benchmarks", o.into)
	}
	return os.WriteFile(o.into, page, 0o666)
}

// placed returns the tables of a section with the lines that match.
func (o options) placed(section, match string, lines []*line) (string, error) {
	if !slices.Contains(sections, section) {
		return "", fmt.Errorf("no section %q", section)
	}
	if !o.asked(section) {
		return "", nil
	}
	wanted, err := regexp.Compile(match)
	if err != nil {
		return "", err
	}
	var matching []*line
	for _, l := range lines {
		if wanted.MatchString(l.full()) {
			matching = append(matching, l)
		}
	}
	var text bytes.Buffer
	write(printer{&text}, section, matching)
	return text.String(), nil
}
