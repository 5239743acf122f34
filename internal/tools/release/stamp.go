package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// stamp is what the programs report about themselves.
type stamp struct {
	version string // beginning with v
	time    time.Time
	lines   []string // variables for scripts/build.sh
}

// readStamp asks scripts/build.sh, so that only one place knows.
func readStamp(ctx context.Context, root string) (stamp, error) {
	out, err := output(ctx, root, nil, filepath.Join(root, "scripts/build.sh"), "release")
	if err != nil {
		return stamp{}, err
	}
	return parseStamp(string(out))
}

func parseStamp(text string) (stamp, error) {
	s := stamp{lines: strings.Split(strings.TrimSpace(text), "\n")}
	for _, line := range s.lines {
		name, value, _ := strings.Cut(line, "=")
		switch name {
		case "VERSION":
			s.version = value
		case "DATE":
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				return stamp{}, fmt.Errorf("stamp: %w", err)
			}
			s.time = at.UTC()
		}
	}
	if s.version == "" || s.time.IsZero() {
		return stamp{}, fmt.Errorf("stamp %q: want VERSION and DATE", text)
	}
	return s, nil
}
