package config

import (
	"fmt"
	"strings"

	"github.com/eerf-stream/eerf/internal/nearest"
)

// unknown is the fault for a name that is neither key nor section.
func (s *schema) unknown(name, text, source string) Fault {
	near := s.nearest(name)
	bound := "unknown key"
	if near != "" {
		bound = fmt.Sprintf("unknown key; did you mean %s?", near)
	}
	// A mistyped secret key must not show its value.
	secret := soundsSecret(name) || soundsSecret(near) || s.byName[near] != nil && s.byName[near].Secret
	if text != "" {
		text = shown(text, secret)
	}
	return Fault{Key: name, Value: text, Bound: bound, Source: source}
}

// nearest returns the key or section with the most similar name, empty if none is similar: a name with a few
// letters wrong, or a key's own name in another section.
func (s *schema) nearest(name string) string {
	best, bestDistance := "", nearest.Limit(name)
	consider := func(known string) {
		distance := nearest.Distance(name, known)
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

// withLastPart returns the first key with this name after its section: a key written without its
// section.
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
