// Command lab compares the project's features with other methods, on public data sets or any file,
// and generates the tables and figures of the documentation.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/lab/results"
	"github.com/eerf-stream/eerf/lab/serveload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:          "lab",
		Short:        "Comparisons with other methods, on public data sets or any file",
		Args:         cobra.NoArgs,
		RunE:         func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceUsage: true, SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newCompare(), newFetch(), results.Command(), serveload.Command(), newMessy(), newStream(), newPlay())
	return root
}
