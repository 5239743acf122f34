package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
)

// letterList is the output of `dead-letters list`.
type letterList struct {
	Topic   string             `json:"topic"`
	Letters int64              `json:"letters"`
	Counts  []deadletter.Count `json:"counts"`
	Newest  []letterEntry      `json:"newest"`
}

func newLettersList() *cobra.Command {
	var f letterFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "Count dead letters by stage and reason and show the newest",
		Long: `list reads the dead-letters topic to its current end, counts the selected dead letters by stage and reason, and
shows the newest: its place on the topic (partition/offset, as --letter takes it), the input that was refused
(topic/partition/offset), how many of its rows, and why.`,
		Example: `  featurizer dead-letters list -c eerf.yaml
  featurizer dead-letters list -c eerf.yaml --stage featurize --reason nan_feature --since 24h --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			return f.topics.Connected(c, func(ctx context.Context, r *stages.Process) error {
				list, err := f.list(ctx, c, r, filter)
				if err != nil {
					return err
				}
				return cli.Print(c, f.topics.JSON, list, printLetters)
			})
		},
	}
	f.add(c, 20, "how many dead letters to show, the newest first; all are counted")
	return c
}

func (f *letterFlags) list(
	ctx context.Context,
	c *cobra.Command,
	r *stages.Process,
	filter deadletter.Filter,
) (letterList, error) {
	topic := r.Settings.Topics.DeadLetters
	list := letterList{Topic: topic, Counts: []deadletter.Count{}, Newest: []letterEntry{}}
	if err := cli.LookUp(ctx, r, topic); err != nil {
		return list, err
	}
	bar := cli.NewProgress(c, f.topics.JSON)
	defer bar.Done()
	progress := func(done, total int64) { bar.Show("reading "+topic, done, total) }
	found, err := deadletter.List(ctx, r.Env.Broker, r.Env.Logger, topic, filter, f.limit, progress)
	if err != nil {
		return list, err
	}
	list.Letters, list.Counts = found.Total, append(list.Counts, found.Counts...)
	for _, l := range found.Newest {
		list.Newest = append(list.Newest, entryOf(l))
	}
	return list, nil
}

func printLetters(w io.Writer, list letterList) {
	if list.Letters == 0 {
		fmt.Fprintf(w, "no dead letters on %s match\n", list.Topic)
		return
	}
	t := cli.NewTable(w, "", "stage", "reason", "letters", "rows", "first", "last")
	for _, count := range list.Counts {
		t.AppendRow([]any{count.Stage, count.Reason, count.Letters, rowsText(count.Rows),
			count.First.Format(time.RFC3339), count.Last.Format(time.RFC3339)})
	}
	t.Render()
	t = cli.NewTable(w, "", "letter", "time", "stage", "reason", "source", "rows", "size", "message")
	for _, e := range list.Newest {
		t.AppendRow([]any{
			e.Letter,
			e.Time.Format(time.RFC3339),
			e.Stage,
			e.Reason,
			e.Source,
			rowsText(int64(e.Rows)),
			bytesize.Text(int64(e.Bytes)),
			short(e.Message),
		})
	}
	t.Render()
	if more := list.Letters - int64(len(list.Newest)); more > 0 {
		fmt.Fprintf(w, "%d older dead letters are counted but not shown (--limit)\n", more)
	}
}

// rowsText formats a number of rows; 0 stands for a message that was refused whole.
func rowsText(rows int64) string {
	if rows == 0 {
		return "all"
	}
	return fmt.Sprint(rows)
}

// short shortens a message to fit a line of a table.
func short(message string) string {
	const most = 80
	if runes := []rune(message); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return message
}
