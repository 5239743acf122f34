// Command soak breaks pipelines on purpose, for as long as you like: see package internal/crash and `make soak`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:           "soak",
		Short:         "Break pipelines on purpose and check that they keep their promises",
		SilenceUsage:  true,
		SilenceErrors: false,
	}
	root.AddCommand(newSchedules(), newSpeed(), newBroker())
	if err := root.ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}
