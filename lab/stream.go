package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/lab/streams"
)

func newStream() *cobra.Command {
	var rows int
	var seed uint64
	var still bool
	c := &cobra.Command{
		Use:       "stream " + strings.Join(streams.Names(), "|"),
		Short:     "Generate a CSV file of rows that change, for scripts/drift.py",
		Args:      cobra.ExactArgs(1),
		ValidArgs: streams.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			return streams.Write(c.OutOrStdout(), args[0], rows, seed, !still)
		},
	}
	flags := c.Flags()
	flags.IntVar(&rows, "rows", 20_000, "rows")
	flags.Uint64Var(&seed, "seed", 1, "seed of the rows")
	flags.BoolVar(&still, "still", false, "keep the relation of features and label constant")
	return c
}
