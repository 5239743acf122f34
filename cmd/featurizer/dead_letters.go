package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
)

func newDeadLetters() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "dead-letters",
		Short: "List, export and replay inputs that could not be used",
		Example: `  featurizer dead-letters list -c eerf.yaml --since 24h
  featurizer dead-letters replay -c eerf.yaml --reason too_large --dry-run`,
	}, newLettersList(), newLettersExport(), newLettersReplay())
}

// letterFlags are the flags that select dead letters.
type letterFlags struct {
	topics          cli.TopicFlags
	stages, reasons []string
	since           string
	places          []string
	limit           int
}

// add defines the flags. Commands with these flags read the topic from its start, so their timeout
// is longer than that of others.
func (f *letterFlags) add(c *cobra.Command, limit int, limitHelp string) {
	f.topics.Add(c, 10*time.Minute)
	c.Flags().StringSliceVar(&f.stages, "stage", nil,
		"only dead letters of these stages, comma-separated: calibrate, subsample, featurize, train")
	c.Flags().StringSliceVar(&f.reasons, "reason", nil,
		"only dead letters for these reasons, comma-separated, such as nan_feature")
	c.Flags().StringVar(&f.since, "since", "",
		"only dead letters since a day (2026-11-03), a time (2026-11-03T12:30:00Z) or an age (90m)")
	c.Flags().StringSliceVar(&f.places, "letter", nil,
		"only these dead letters, comma-separated, as partition/offset on the dead-letters topic")
	c.Flags().IntVar(&f.limit, "limit", limit, limitHelp+"; 0 = all")
}

// selects reports whether a flag narrows the selection.
func (f *letterFlags) selects() bool {
	return len(f.stages) > 0 || len(f.reasons) > 0 || f.since != "" || len(f.places) > 0
}

// filter reads the flags.
func (f *letterFlags) filter(now time.Time) (deadletter.Filter, error) {
	filter := deadletter.Filter{Stages: f.stages, Reasons: f.reasons}
	if f.limit < 0 {
		return filter, cli.Usagef("--limit %d: expected 1 or more, or 0 for all", f.limit)
	}
	if _, err := stages.Parse(f.stages); err != nil && len(f.stages) > 0 {
		return filter, cli.Usagef("--stage: %w", err)
	}
	var err error
	if filter.Since, err = parseSince(f.since, now); err != nil {
		return filter, err
	}
	for _, text := range f.places {
		place, err := parsePlace(text)
		if err != nil {
			return filter, err
		}
		filter.Places = append(filter.Places, place)
	}
	return filter, nil
}

// parseSince reads a time, a day or an age.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, cli.Usagef(
		"--since %q: expected a day (2026-11-03), a time (2026-11-03T12:30:00Z) or an age (90m)", text)
}

// parsePlace reads partition/offset.
func parsePlace(text string) (deadletter.Place, error) {
	partition, offset, ok := strings.Cut(text, "/")
	p, err1 := strconv.ParseInt(partition, 10, 32)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if !ok || err1 != nil || err2 != nil || p < 0 || o < 0 {
		return deadletter.Place{}, cli.Usagef(
			"--letter %q: expected the partition and offset of the dead letter, such as 3/17", text)
	}
	return deadletter.Place{Partition: int(p), Offset: o}, nil
}

// letterEntry is a dead letter as the commands show it.
type letterEntry struct {
	Letter  deadletter.Place `json:"letter"`
	Time    time.Time        `json:"time"`
	Stage   string           `json:"stage"`
	Reason  string           `json:"reason"`
	Source  sourcePlace      `json:"source"`
	Rows    int32            `json:"rows"`  // rejected rows; 0 = the whole message was refused
	Bytes   int              `json:"bytes"` // size of the value; 0 = only coordinates could be kept
	Message string           `json:"message"`
	File    string           `json:"file,omitempty"`
}

// sourcePlace is the position of the refused message.
type sourcePlace struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (s sourcePlace) String() string { return fmt.Sprintf("%s/%d/%d", s.Topic, s.Partition, s.Offset) }

func entryOf(l deadletter.Letter) letterEntry {
	return letterEntry{
		Letter: l.Place, Time: l.Time, Stage: l.Stage, Reason: l.Reason, Rows: l.Rows, Bytes: l.Bytes, Message: l.Detail,
		Source: sourcePlace{l.Topic, l.Partition, l.Offset},
	}
}
