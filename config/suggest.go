package config

import (
	"fmt"
	"strings"
)

// unknown is the fault of a name that is neither key nor section.
func (s *schema) unknown(name, text, source string) Fault {
	near := s.nearest(name)
	bound := "unknown key"
	if what, former := formerKeys[name]; former {
		bound = "key of an earlier version, " + what
	} else if near != "" {
		bound = fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	// A mistyped name of a secret must not print it.
	secret := soundsSecret(name) || soundsSecret(near) || s.byName[near] != nil && s.byName[near].Secret
	if text != "" {
		text = shown(text, secret)
	}
	return Fault{Key: name, Value: text, Bound: bound, Source: source}
}

// nearest returns the key or section whose name is nearest to the one given, empty where none is near: a name
// with a few letters wrong, or a key's own name under another section.
func (s *schema) nearest(name string) string {
	best, bestDistance := "", len(name)/3+2
	consider := func(known string) {
		distance := editDistance(name, known)
		if lastPart(name) == lastPart(known) {
			distance = min(distance, 3)
		}
		if distance < bestDistance {
			best, bestDistance = known, distance
		}
	}
	for i := range s.keys {
		if strings.Contains(name, ".") {
			consider(s.keys[i].Name)
		}
		for section := sectionOf(s.keys[i].Name); section != ""; section = sectionOf(section) {
			if strings.Count(section, ".") == strings.Count(name, ".") {
				consider(section)
			}
		}
	}
	if best == "" && !strings.Contains(name, ".") {
		best = s.withLastPart(name)
	}
	return best
}

// withLastPart returns the first key whose own name is the one given: a key written without its section.
func (s *schema) withLastPart(name string) string {
	for i := range s.keys {
		if lastPart(s.keys[i].Name) == name {
			return s.keys[i].Name
		}
	}
	return ""
}

func lastPart(name string) string { return name[strings.LastIndex(name, ".")+1:] }

func sectionOf(name string) string { return name[:max(strings.LastIndex(name, "."), 0)] }

// editDistance is the number of insertions, deletions and replacements of bytes between two names
// (Levenshtein), with one row of the table in memory. Long names are cut: nothing near them is known.
func editDistance(a, b string) int {
	const longest = 100
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// formerKeys are the keys (and sections) of earlier versions, each with what took its place ("now ..."), or why nothing
// did ("gone: ..."). A configuration that still has one is refused with these words.
var formerKeys = map[string]string{
	"exploration.start":               "now exploration.from",
	"exploration.until":               "gone: an exploration ends where the log ended when it was planned",
	"exploration.row_memory":          "now exploration.sample_memory",
	"exploration.calibration_timeout": "gone: nothing is waited for; see exploration.min_rows",
	"exploration.deadline":            "gone: an exploration no longer waits for rows",
}
