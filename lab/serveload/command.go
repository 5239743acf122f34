// Package serveload sends requests to `featurizer serve` at a steady rate, from the same machine.
// The rows have 77 numeric columns, the sets 1,000 features. Requests are due at fixed times,
// independently of earlier answers. If a request is sent late because its connection was busy, its
// response time counts from its due time.
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
		Short: "Send requests to featurizer serve at a steady rate",
	}
	var l load
	var s speed
	c.AddCommand(
		part("load", "Send requests while sets and models change; no request may fail, and no answer may mix two pairs",
			l.flags, l.run),
		part("speed", "Compare response times with those of empty answers from the same server, and of a peer", s.flags,
			s.run))
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
