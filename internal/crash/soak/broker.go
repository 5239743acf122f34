package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// newBroker runs the embedded broker as a process that can be killed.
func newBroker() *cobra.Command {
	options := embedded.Options{CompactEvery: time.Second}
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
			<-c.Context().Done()
			return broker.Close()
		},
	}
	c.Flags().StringVar(&options.Dir, "dir", "", "data directory")
	c.Flags().IntVar(&options.Port, "port", 0, "port on loopback")
	c.Flags().DurationVar(&options.RebalanceTimeout, "rebalance", 1500*time.Millisecond, "how long a rebalance waits for members")
	return c
}
