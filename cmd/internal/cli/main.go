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
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Exit codes of both commands.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2   // how the command was called, or its configuration, is wrong
	ExitUnfinished  = 3   // a service that was told to stop did not finish in time what it had in hand
	ExitInterrupted = 130 // 128 + SIGINT: a signal ended the command before it was done
)

// UsageError is a fault in how a command was called or configured.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Main runs a command with the process's arguments and exits with its code. The first interrupt or termination signal
// ends the command's context, a second one the process.
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

// Execute runs a command and returns its exit code; errors go to the command's error stream.
func Execute(ctx context.Context, root *cobra.Command) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	build := BuildOf(root.Name())
	root.Version = build.String()
	markUsage(root)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(root.ErrOrStderr(), "%s: interrupted\n", command.CommandPath())
		return ExitInterrupted
	}
	fmt.Fprintf(root.ErrOrStderr(), "%s: %v\n", command.CommandPath(), err)
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

// markUsage makes errors about flags and arguments, of every command below, usage errors.
func markUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{err} })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return &UsageError{err}
			}
			return nil
		}
	}
	for _, child := range c.Commands() {
		markUsage(child)
	}
}

func isUsage(err error) bool {
	var usage *UsageError
	var faults config.Faults
	return errors.As(err, &usage) || errors.As(err, &faults) ||
		strings.HasPrefix(err.Error(), "unknown command") // cobra has no type for it
}

// hintFor says what to do about an error, where that is known.
func hintFor(c *cobra.Command, err error) string {
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		return "run `featurizer config explain` for the meaning of every key"
	case isUsage(err):
		return fmt.Sprintf("run `%s --help` for its flags and an example", c.CommandPath())
	case errors.Is(err, pipeline.ErrUnknownTopic):
		return "run `featurizer topics create` with the same configuration to create what is missing"
	}
	return ""
}
