// Package serveload sends requests to `featurizer serve` at a steady rate, from this machine. The rows have 77 numeric
// columns, the sets 1,000 features. Requests are due at fixed times, whether or not earlier ones were answered. If one is
// sent late because its connection was busy, its time counts from when it was due.
package serveload

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command returns the command with its two parts.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "serveload",
		Short: "Requests to featurizer serve at a steady rate",
	}
	var l load
	var s speed
	c.AddCommand(
		part("load", "Requests while sets and models change: none may fail, and no answer may mix two pairs", l.flags, l.run),
		part("speed", "Response times next to those of an empty answer from the same server, and of a peer", s.flags, s.run))
	return c
}

func part(name, short string, flags func(*pflag.FlagSet), run func(context.Context) error) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context()) },
	}
	flags(c.Flags())
	return c
}
