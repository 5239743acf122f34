package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/state"
)

// notSentShown is how many of the letters that were not sent are listed.
const notSentShown = 20

// replayFlags are the flags of `featurizer dead-letters replay`.
type replayFlags struct {
	letters                       letterFlags
	from                          string
	all, dryRun, force, unchecked bool
}

// replaySummary is what a replay did.
type replaySummary struct {
	DryRun   bool                             `json:"dry_run"`
	Events   int64                            `json:"events"` // messages written
	Rows     int64                            `json:"rows"`   // in messages made of rejected rows
	Outcomes map[deadletter.ReplayOutcome]int `json:"outcomes"`
	Letters  []replayedEntry                  `json:"letters"`
}

type replayedEntry struct {
	letterEntry
	Outcome deadletter.ReplayOutcome `json:"outcome"`
	Sent    int64                    `json:"rows_sent,omitempty"`
	Dropped int64                    `json:"rows_dropped,omitempty"` // would be rejected again
	Detail  string                   `json:"detail,omitempty"`
}

func newLettersReplay() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay",
		Short: "Send dead letters back to the events topic, each input once",
		Long: `replay writes the selected dead letters to the events topic, as new events with their old keys and headers, to the
partitions that they came from. A message that was refused whole is sent byte for byte; rejected rows are sent as a
message of those rows. With --from the content comes from files that export wrote and you repaired.

Each row of each input is sent once, even if several stages refused it, or a replay was interrupted and started again:
notes on the dead-letters topic and headers of the events say what was replayed. --force replays it again. Letters that
would be refused again, judging by the limits of this configuration and the feature set in use, are left out;
--unchecked sends them. One replay runs at a time; others wait for it.

Rows of a message with the reason output_too_large were already scored once; when replayed they are scored again.`,
		Example: `  featurizer dead-letters replay -c eerf.yaml --reason too_large --since 24h --dry-run
  featurizer dead-letters replay -c eerf.yaml --from letters
  featurizer dead-letters replay -c eerf.yaml --letter 3/17 --from repaired.arrow`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.letters.add(c, 0, "how many letters to replay, from the oldest of the first partition on")
	c.Flags().StringVar(&f.from, "from", "", "folder of repaired files, as export names them; or the one file of the one --letter")
	c.Flags().BoolVar(&f.all, "all", false, "replay every dead letter; needed where neither a filter nor --from is given")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	c.Flags().BoolVar(&f.force, "force", false, "also replay letters that were replayed before")
	c.Flags().BoolVar(&f.unchecked, "unchecked", false, "also send letters that would be refused again")
	return c
}

func (f *replayFlags) run(c *cobra.Command) error {
	filter, err := f.letters.filter(time.Now())
	if err != nil {
		return err
	}
	if !f.all && !f.letters.selects() && f.from == "" {
		return cli.Usagef("no selection: name --letter, --stage, --reason, --since or --from, or say --all")
	}
	repaired, err := f.repaired(&filter)
	if err != nil {
		return err
	}
	var summary replaySummary
	err = f.letters.topics.withState(c, func(ctx context.Context, now state.Snapshot, r *stages.Process) error {
		if err := cli.LookUp(ctx, r, r.Settings.Topics.DeadLetters, r.Settings.Topics.Events); err != nil {
			return err
		}
		bar := cli.NewProgress(c, f.letters.topics.json)
		defer bar.Done()
		options := deadletter.ReplayOptions{
			Filter: filter, Limit: f.letters.limit, Repaired: repaired, DryRun: f.dryRun, Force: f.force, Unchecked: f.unchecked,
			Progress: func(done, total int64) { bar.Show("reading "+r.Settings.Topics.DeadLetters, done, total) },
		}
		if set := now.CurrentSet(); set != nil {
			options.Encoder = set.Set.Encoder
		}
		report, err := r.Replayer().Replay(ctx, options)
		summary = f.summarize(report)
		return err
	})
	if err != nil && len(summary.Letters) == 0 {
		return err
	}
	if err := f.show(c, summary); err != nil {
		return err
	}
	switch {
	case err != nil && !f.dryRun && !f.force:
		return fmt.Errorf("%w (the same command goes on where this one stopped)", err)
	case err != nil:
		return err
	}
	return f.allThere(filter.Places, summary)
}

// show prints what was done, also if it ended early.
func (f *replayFlags) show(c *cobra.Command, summary replaySummary) error {
	if f.letters.topics.json {
		return cli.WriteJSON(c.OutOrStdout(), summary)
	}
	summary.print(c.OutOrStdout())
	return nil
}

// allThere returns an error if a named letter is not on its topic. A limit leaves some out.
func (f *replayFlags) allThere(places []deadletter.Place, summary replaySummary) error {
	if f.letters.limit > 0 {
		return nil
	}
	for _, place := range places {
		found := slices.ContainsFunc(summary.Letters, func(l replayedEntry) bool { return l.Letter == place })
		if !found {
			return fmt.Errorf("dead letter %v is not on its topic, or another flag leaves it out", place)
		}
	}
	return nil
}

// repaired returns a function that reads repaired values, or nil to replay the letters' own. If no letters are named,
// those in the folder are selected.
func (f *replayFlags) repaired(filter *deadletter.Filter) (func(deadletter.Place) ([]byte, bool, error), error) {
	if f.from == "" {
		return nil, nil
	}
	info, err := os.Stat(f.from)
	if err != nil {
		return nil, err
	}
	files := map[deadletter.Place]string{}
	switch {
	case info.IsDir():
		if files, err = letterFiles(f.from); err != nil {
			return nil, err
		}
		if len(filter.Places) == 0 {
			for place := range files {
				filter.Places = append(filter.Places, place)
			}
		}
	case len(filter.Places) != 1:
		return nil, cli.Usagef("--from %s is a file: name the one --letter that it is for", f.from)
	default:
		files[filter.Places[0]] = f.from
	}
	return func(place deadletter.Place) ([]byte, bool, error) {
		path, ok := files[place]
		if !ok {
			return nil, false, nil
		}
		value, err := os.ReadFile(path)
		return value, err == nil, err
	}, nil
}

// letterFiles finds the letters' files in a folder.
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
		return nil, cli.Usagef("--from %s: no file is named as `featurizer dead-letters export` names them", folder)
	}
	return files, nil
}

func (f *replayFlags) summarize(report deadletter.ReplayReport) replaySummary {
	s := replaySummary{
		DryRun: f.dryRun, Events: report.Events, Rows: report.Rows, Outcomes: map[deadletter.ReplayOutcome]int{}, Letters: []replayedEntry{},
	}
	for _, l := range report.Letters {
		s.Outcomes[l.Outcome]++
		s.Letters = append(s.Letters, replayedEntry{entryOf(l.Letter), l.Outcome, l.Rows, l.Dropped, l.Detail})
	}
	return s
}

func (s replaySummary) print(w io.Writer) {
	if len(s.Letters) == 0 {
		fmt.Fprintln(w, "no such dead letters")
		return
	}
	text := "%d of %d dead letters replayed: %d events written\n"
	if s.DryRun {
		text = "%d of %d dead letters would be replayed: %d events (dry run: nothing is written)\n"
	}
	fmt.Fprintf(w, text, s.Outcomes[deadletter.ReplaySent], len(s.Letters), s.Events)
	t := cli.NewTable(w, "", "letter", "source", "stage", "reason", "outcome", "why")
	left, shown := 0, 0
	for _, l := range s.Letters {
		if l.Outcome == deadletter.ReplaySent && l.Dropped == 0 {
			continue
		}
		if left++; shown < notSentShown {
			t.AppendRow([]any{l.Letter, l.Source, l.Stage, l.Reason, l.Outcome, short(l.Detail)})
			shown++
		}
	}
	if left == 0 {
		return
	}
	t.Render()
	if left > shown {
		fmt.Fprintf(w, "and %d more (--json lists all)\n", left-shown)
	}
}
