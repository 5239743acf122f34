package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/internal/nearest"
	"github.com/eerf-stream/eerf/internal/printable"
)

// Fault is one fault of a configuration.
type Fault struct {
	// Key is the dotted name, such as "train.interval"; empty if the whole file is faulty.
	Key string `json:"key"`
	// Value is the given value as text, shortened if it is long and hidden if it is secret; empty
	// if it is not a single value.
	Value string `json:"value"`
	// Bound describes a correct value.
	Bound string `json:"bound"`
	// Source is the origin of the value: file and line, environment variable, command line, or
	// default.
	Source string `json:"source,omitempty"`
}

// String is the fault in one line.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Key)
	if f.Key != "" && f.Value != "" {
		b.WriteString(" = " + f.Value)
	}
	if f.Source != "" {
		fmt.Fprintf(&b, " (%s)", f.Source)
	}
	return printable.Text(strings.TrimSpace(b.String() + ": " + f.Bound))
}

// unknown returns the fault for a name that is neither a key nor a section. It does not show the
// value, because the name may be a misspelt secret.
func (s *schema) unknown(name, source string) Fault {
	bound, known := "unknown key", slices.Sorted(maps.Keys(s.sections))
	for i := range s.keys {
		known = append(known, s.keys[i].Name)
	}
	if near := nearest.Name(name, known); near != "" {
		bound += "; did you mean " + near + "?"
	}
	return Fault{Key: name, Bound: bound, Source: source}
}

// Faults lists all faults of a configuration: unknown keys and other faults of form, then values of
// the wrong type, then bounds and relations, each in the order of the keys.
//
//nolint:errname // a list of faults, printed as one; FaultsError would name the wrapping and not the thing
type Faults []Fault

// Error is a heading and one line for each fault.
func (f Faults) Error() string {
	var b strings.Builder
	if len(f) == 1 {
		b.WriteString("1 fault in the configuration:")
	} else {
		fmt.Fprintf(&b, "%d faults in the configuration:", len(f))
	}
	for _, fault := range f {
		b.WriteString("\n  ")
		b.WriteString(fault.String())
	}
	return b.String()
}

// orNil returns the faults as an error, nil if there are none.
func (f Faults) orNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

const (
	redacted     = printable.Redacted
	maxShownText = 80 // runes of a value that a fault shows; enough to recognize it
)

// shown returns the text of a value in the form that a fault shows.
func shown(text string, secret bool) string {
	switch {
	case secret && text != "":
		return redacted
	case utf8.RuneCountInString(text) > maxShownText:
		return string([]rune(text)[:maxShownText]) + "…"
	case text == "" || strings.ContainsAny(text, "\n\r\t"):
		return fmt.Sprintf("%q", text)
	default:
		return text
	}
}
