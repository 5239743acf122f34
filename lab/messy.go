package main

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/internal/messy"
)

func newMessy() *cobra.Command {
	var rows int
	c := &cobra.Command{
		Use:   "messy",
		Short: "Generate a CSV file with the problems of real files, for scripts/messy.py",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return messy.Write(c.OutOrStdout(), rows, 1) },
	}
	c.Flags().IntVar(&rows, "rows", 50_000, "rows")
	return c
}
