package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/printable"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Exit codes of both commands.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2   // wrong command line or configuration
	ExitUnfinished  = 3   // a service did not finish its work in time after a signal to stop
	ExitInterrupted = 130 // 128 + SIGINT: a signal interrupted the command
)

// UsageError is an error in the command line or the configuration.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main runs a command with the process's arguments and exits with its code. The first interrupt or
// termination signal ends the command's context, a second one the process.
func Main(root *cobra.Command) {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(ExitInterrupted)
	}()
	os.Exit(Execute(ctx, root))
}

// Execute runs a command and returns its exit code; errors go to the command's error stream. All
// text that the command writes is made printable here, because names and messages come from
// outside.
func Execute(ctx context.Context, root *cobra.Command) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(printable.NewWriter(root.OutOrStdout()))
	root.SetErr(printable.NewWriter(root.ErrOrStderr()))
	build := BuildOf(root.Name())
	root.Version = build.String()
	markUsage(root)
	setHelp(root)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(root.ErrOrStderr(), "%s: interrupted\n", command.CommandPath())
		return ExitInterrupted
	}
	fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", command.CommandPath(), printable.URLs(err.Error()))
	if hint := hintFor(command, err); hint != "" {
		fmt.Fprintln(root.ErrOrStderr(), hint)
	}
	switch {
	case errors.Is(err, meter.ErrUnfinished):
		return ExitUnfinished
	case isUsage(err):
		return ExitUsage
	}
	return ExitFailure
}

func isUsage(err error) bool {
	var usage *UsageError
	var faults config.Faults
	return errors.As(err, &usage) || errors.As(err, &faults) ||
		strings.HasPrefix(err.Error(), "unknown command") // cobra has no type for it
}
