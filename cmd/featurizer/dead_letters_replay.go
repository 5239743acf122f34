package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
)

// replayFlags are the flags of `featurizer dead-letters replay`.
type replayFlags struct {
	letters     letterFlags
	from        string
	all, dryRun bool
}

// replaySummary is the outcome of a replay.
type replaySummary struct {
	DryRun   bool                               `json:"dry_run"`
	Letters  int64                              `json:"letters"` // selected dead letters
	Events   int64                              `json:"events"`  // messages written
	Rows     int64                              `json:"rows"`    // rows in messages that were made of rejected rows
	Outcomes map[deadletter.ReplayOutcome]int64 `json:"outcomes"`
	Unsent   []unsentEntry                      `json:"unsent"` // the first dead letters that were not sent
}

type unsentEntry struct {
	letterEntry
	Outcome deadletter.ReplayOutcome `json:"outcome"`
	Detail  string                   `json:"detail,omitempty"`
}

func newLettersReplay() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay",
		Short: "Send dead letters back to the events topic",
		Long: `replay writes the selected dead letters to the events topic, as new events with their old keys and headers, to
the partitions that they came from. A message that was refused whole is sent byte for byte; rejected rows are
sent as a message of those rows. With --from the content comes from files that you exported and repaired.

One replay sends each row once, even if several stages refused it. Nothing records which dead letters were
sent: a second replay of the same dead letters sends them again, and a replay that failed may have sent some of
them. Dead letters that are still unusable come back as new dead letters.

Rows of a message with the reason output_too_large were already scored once; after a replay they are scored
again.`,
		Example: `  featurizer dead-letters replay -c eerf.yaml --reason too_large --since 24h --dry-run
  featurizer dead-letters replay -c eerf.yaml --from letters`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.letters.add(c, 0, "how many dead letters to replay, partition by partition, the oldest first")
	c.Flags().StringVar(&f.from, "from", "", "folder of repaired files, named as by export")
	c.Flags().BoolVar(&f.all, "all", false,
		"replay every dead letter; required if neither a filter nor --from is given")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the outcome without sending anything")
	return c
}

func (f *replayFlags) run(c *cobra.Command) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	var summary replaySummary
	err = f.letters.topics.Connected(c, func(ctx context.Context, r *stages.Process) error {
		topic := r.Settings.Topics.DeadLetters
		if err := cli.LookUp(ctx, r, topic, r.Settings.Topics.Events); err != nil {
			return err
		}
		bar := cli.NewProgress(c, f.letters.topics.JSON)
		defer bar.Done()
		options.Progress = func(done, total int64) { bar.Show("reading "+topic, done, total) }
		report, err := r.Replayer().Replay(ctx, options)
		summary = f.summarize(report)
		return err
	})
	if err != nil && summary.Letters == 0 {
		return err
	}
	if err := cli.Print(c, f.letters.topics.JSON, summary, printReplay); err != nil {
		return err
	}
	if named := int64(len(options.Filter.Places)); err == nil && options.Limit == 0 && summary.Letters < named {
		return fmt.Errorf("%d of the %d named dead letters are missing from their topic or excluded by another flag",
			named-summary.Letters, named)
	}
	return err
}

// options reads the flags.
func (f *replayFlags) options() (o deadletter.ReplayOptions, err error) {
	o.Limit, o.DryRun = f.letters.limit, f.dryRun
	if o.Filter, err = f.letters.filter(time.Now()); err != nil {
		return o, err
	}
	if f.from == "" {
		if !f.all && !f.letters.selects() {
			return o, cli.Usagef("nothing selected: set --letter, --stage, --reason, --since, --from or --all")
		}
		return o, nil
	}
	files, err := letterFiles(f.from)
	if err != nil {
		return o, err
	}
	if len(o.Filter.Places) == 0 {
		for place := range files {
			o.Filter.Places = append(o.Filter.Places, place)
		}
	}
	o.Repaired = func(place deadletter.Place) ([]byte, bool, error) {
		path, ok := files[place]
		if !ok {
			return nil, false, nil
		}
		value, err := os.ReadFile(path)
		return value, err == nil, err
	}
	return o, nil
}

// letterFiles finds the files of dead letters in a folder.
func letterFiles(folder string) (map[deadletter.Place]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[deadletter.Place]string{}
	for _, entry := range entries {
		match := letterFileName.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		place, err := parsePlace(match[1] + "/" + match[2])
		if err != nil {
			return nil, err
		}
		files[place] = filepath.Join(folder, entry.Name())
	}
	if len(files) == 0 {
		return nil, cli.Usagef("--from %s: no file has a name that `featurizer dead-letters export` gives", folder)
	}
	return files, nil
}

func (f *replayFlags) summarize(report deadletter.ReplayReport) replaySummary {
	s := replaySummary{
		DryRun:   f.dryRun,
		Letters:  report.Letters,
		Events:   report.Events,
		Rows:     report.Rows,
		Outcomes: report.Outcomes,
		Unsent:   []unsentEntry{},
	}
	for _, l := range report.Unsent {
		s.Unsent = append(s.Unsent, unsentEntry{entryOf(l.Letter), l.Outcome, l.Detail})
	}
	return s
}

func printReplay(w io.Writer, s replaySummary) {
	if s.Letters == 0 {
		fmt.Fprintln(w, "no dead letters match")
		return
	}
	text := "%d of %d dead letters replayed: %d events written\n"
	if s.DryRun {
		text = "%d of %d dead letters would be replayed: %d events (dry run: nothing is written)\n"
	}
	sent := s.Outcomes[deadletter.ReplaySent]
	fmt.Fprintf(w, text, sent, s.Letters, s.Events)
	if len(s.Unsent) == 0 {
		return
	}
	t := cli.NewTable(w, "", "letter", "source", "stage", "reason", "outcome", "why")
	for _, l := range s.Unsent {
		t.AppendRow([]any{l.Letter, l.Source, l.Stage, l.Reason, l.Outcome, short(l.Detail)})
	}
	t.Render()
	if more := s.Letters - sent - int64(len(s.Unsent)); more > 0 {
		fmt.Fprintf(w, "and %d more were not sent\n", more)
	}
}
