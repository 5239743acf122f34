package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
)

// produceFlags are the flags of `featurizer produce`.
type produceFlags struct {
	config  cli.ConfigFlags
	files   cli.FileFlags
	data    string
	message int
	timeout time.Duration
	force   bool
	json    bool
}

func newProduce() *cobra.Command {
	var f produceFlags
	c := &cobra.Command{
		Use:   "produce",
		Short: "Write the rows of a file to the events topic",
		Long: `produce cuts a file into messages and writes them to the partitions of the events topic in turn, as Arrow
record batches. If the file lacks a label or feature column that the configuration names or the current feature
set reads, nothing is sent, and the error names the columns.`,
		Example: `  featurizer produce -c eerf.yaml --data rows.csv --rows-per-message 1024`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.data, "data", "", "file of rows (required)")
	c.Flags().IntVar(&f.message, "rows-per-message", 1024, "rows in one message")
	c.Flags().BoolVar(&f.force, "force", false, "send rows even if they lack columns that the pipeline reads")
	cli.TimeoutFlag(c, &f.timeout, time.Minute, "give up if the broker does not answer for this long")
	f.config.Add(c)
	f.files.Add(c)
	cli.JSONFlag(c, &f.json)
	return c
}

func (f *produceFlags) run(c *cobra.Command) error {
	switch {
	case f.data == "":
		return cli.Usagef("--data is required: the file of rows to write")
	case f.message < 1:
		return cli.Usagef("--rows-per-message %d: expected 1 or more", f.message)
	}
	loaded, err := f.config.Load(nil, nil)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	read := slices.Concat(loaded.Stages.Events.Label, loaded.Stages.Events.Features)
	copied := slices.DeleteFunc(slices.Clone(loaded.Stages.Events.Passthrough), func(name string) bool {
		return slices.Contains(read, name)
	})
	file, err := f.files.Open(f.data, f.batchRows(), bar, copied...)
	if err != nil {
		return err
	}
	defer file.Close()
	file.KeepClasses(&loaded.Stages.Events)
	runtime, closeAll, err := cli.ConnectOnce(c, loaded)
	if err != nil {
		return err
	}
	defer closeAll()
	producer, err := f.produce(c.Context(), runtime, file)
	bar.Done()
	if err != nil {
		return err
	}
	topic := runtime.Settings.Topics.Events
	written := map[string]any{"topic": topic, "messages": producer.Messages(), "rows": producer.Rows()}
	return cli.Print(c, f.json, written, func(w io.Writer, _ map[string]any) {
		cli.WriteNotes(w, file.ClassNotes())
		fmt.Fprintf(w, "%d rows in %d messages written to %s\n", producer.Rows(), producer.Messages(), topic)
	})
}

// batchRows returns a multiple of the rows of a message, so that only the last message of the file
// is shorter.
func (f *produceFlags) batchRows() int {
	return max(f.message, files.DefaultBatchRows/f.message*f.message)
}

func (f *produceFlags) produce(
	ctx context.Context,
	r *stages.Process,
	file *cli.RowFile,
) (producer *events.Producer, err error) {
	topic := r.Settings.Topics.Events
	err = cli.WithTimeout(ctx, f.timeout, func(ctx context.Context) error {
		if err := cli.LookUp(ctx, r, topic); err != nil {
			return err
		}
		producer, err = events.NewProducer(ctx, r.Env.Broker, topic, f.message)
		if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := f.checkRows(ctx, r, file.Schema()); err != nil {
		return nil, err
	}
	err = events.EachBatch(ctx, file.Rows("producing "+f.data), func(_ int64, batch arrow.Record) error {
		return cli.WithTimeout(ctx, f.timeout, func(ctx context.Context) error { return producer.Add(ctx, batch) })
	})
	if err != nil {
		return nil, err
	}
	return producer, cli.WithTimeout(ctx, f.timeout, producer.Flush)
}
