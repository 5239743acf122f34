package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/lab/streams"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/live"
)

// playing sends a stream to a running pipeline.
type playing struct {
	brokers    []string
	pipeline   string
	rows, rate int
	seed       uint64
}

func newPlay() *cobra.Command {
	var p playing
	c := &cobra.Command{
		Use:   "play " + strings.Join(streams.Names(), "|"),
		Short: "Send the rows of a stream to a running pipeline at a fixed rate, and print its live errors",
		Long: `play writes a JSON message for each row and, at the end of each second, a line of CSV with the live error
of the newest 1,000 rows and the promised error, in percent, and the state as on the status page.`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: streams.Names(),
		RunE:      func(c *cobra.Command, args []string) error { return p.run(c.Context(), c.OutOrStdout(), args[0]) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&p.brokers, "brokers", []string{"127.0.0.1:9092"}, "addresses of brokers")
	flags.StringVar(&p.pipeline, "pipeline", "default", "the pipeline, whose topics have their usual names")
	flags.IntVar(&p.rows, "rows", 80_000, "rows")
	flags.IntVar(&p.rate, "rate", 400, "rows per second")
	flags.Uint64Var(&p.seed, "seed", 1, "seed of the rows")
	return c
}

func (p *playing) run(ctx context.Context, w io.Writer, name string) error {
	columns, rows, err := streams.Rows(name, p.rows, p.seed, true)
	if err != nil {
		return err
	}
	client, err := kafka.New(kafka.Config{Brokers: p.brokers}, zap.NewNop())
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // nothing is in flight
	events := p.pipeline + ".events"
	partitions, err := client.Partitions(ctx, events)
	if err != nil {
		return err
	}
	watch := live.NewFollower(client, zap.NewNop(), time.Now, p.pipeline+".live", p.pipeline)
	next, stop := iter.Pull(rows)
	defer stop()
	fmt.Fprintln(w, "second,error,promised,state")
	for began, sent := time.Now(), 0; ; {
		for partition := range partitions { // a tick for each, all of them in a second
			records, err := p.take(next, columns, p.rate*(partition+1)/partitions-p.rate*partition/partitions)
			if err != nil {
				return err
			}
			if len(records) == 0 {
				return nil
			}
			if _, err := client.Produce(ctx, events, partition, records); err != nil {
				return err
			}
			sent += len(records)
			due := began.Add(time.Duration(sent) * time.Second / time.Duration(p.rate))
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Until(due)):
			}
		}
		if err := watch.Look(ctx); err != nil {
			return err
		}
		fmt.Fprintln(w, line(sent/p.rate, watch.Report()))
	}
}

// take returns the messages of the next rows.
func (p *playing) take(
	next func() (streams.Row, bool),
	columns []string,
	rows int,
) (records []pipeline.Record, err error) {
	for range rows {
		row, ok := next()
		if !ok {
			break
		}
		fields := map[string]any{streams.Label: row.Class}
		for i, name := range columns {
			fields[name] = row.Values[i]
		}
		value, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		records = append(records, pipeline.Record{Value: value, Time: time.Now()})
	}
	return records, nil
}

// line formats the report of a second.
func line(second int, r live.Report) string {
	if r.Short == nil {
		return fmt.Sprintf("%d,,,%s", second, r.State)
	}
	promised := ""
	if r.Short.PromisedError != nil {
		promised = fmt.Sprintf("%.2f", *r.Short.PromisedError)
	}
	return fmt.Sprintf("%d,%.2f,%s,%s", second, r.Short.Error, promised, r.State)
}
