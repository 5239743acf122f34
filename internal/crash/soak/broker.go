package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/internal/crash"
	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// newBroker runs the embedded broker as a process that can be killed.
func newBroker() *cobra.Command {
	options := embedded.Options{CompactEvery: math.MaxInt64} // compact does it
	c := &cobra.Command{
		Use:    "broker",
		Short:  "Run an embedded broker until told to stop",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			broker, err := embedded.Start(options)
			if err != nil {
				return err
			}
			compact(c.Context(), options.Dir, broker)
			return broker.Close()
		},
	}
	c.Flags().StringVar(&options.Dir, "dir", "", "data directory")
	c.Flags().IntVar(&options.Port, "port", 0, "port on loopback")
	c.Flags().DurationVar(&options.RebalanceTimeout, "rebalance", 1500*time.Millisecond, "how long a rebalance waits for members")
	return c
}

// compact runs compaction every second, unless the broker is about to be killed.
func compact(ctx context.Context, dir string, broker *embedded.Broker) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if spared, ok := crash.Spare(dir); ok {
			broker.Compact()
			spared()
		}
	}
}
