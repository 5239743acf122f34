package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// TopicFlags are the flags of one-shot commands that read topics.
type TopicFlags struct {
	Config  ConfigFlags
	Timeout time.Duration
	JSON    bool
	Brokers []string // configured addresses; set by Connected
}

// Add defines the flags on a command. timeout is the default of --timeout.
func (f *TopicFlags) Add(c *cobra.Command, timeout time.Duration) {
	f.Config.Add(c)
	TimeoutFlag(c, &f.Timeout, timeout, "give up after this long")
	JSONFlag(c, &f.JSON)
}

// Connected calls do with a process connected to the configured brokers, within the timeout.
func (f *TopicFlags) Connected(c *cobra.Command, do func(context.Context, *stages.Process) error) error {
	loaded, err := f.Config.Load(nil, nil)
	if err != nil {
		return err
	}
	f.Brokers = loaded.Kafka.Brokers
	runtime, closeAll, err := ConnectOnce(c, loaded)
	if err != nil {
		return err
	}
	defer closeAll()
	return WithTimeout(c.Context(), f.Timeout, func(ctx context.Context) error { return do(ctx, runtime) })
}

// WithState reads control topics to their current end and calls do with their state. It follows
// them until do returns.
func (f *TopicFlags) WithState(
	c *cobra.Command,
	do func(context.Context, *stages.Process, state.Snapshot) error,
	topics ...state.Topic,
) error {
	return f.Connected(c, func(ctx context.Context, r *stages.Process) error { return ReadState(ctx, r, do, topics...) })
}

// ReadState is [TopicFlags.WithState] for a connected process.
func ReadState(
	ctx context.Context,
	r *stages.Process,
	do func(context.Context, *stages.Process, state.Snapshot) error,
	topics ...state.Topic,
) error {
	names := make([]string, len(topics))
	for i, topic := range topics {
		names[i] = r.Settings.State().Name(topic)
	}
	if err := LookUp(ctx, r, names...); err != nil {
		return err
	}
	return r.Env.State.During(
		ctx,
		func(ctx context.Context, now state.Snapshot) error { return do(ctx, r, now) },
		topics...)
}

// Group makes a command that only holds others. For an unknown subcommand it reports the name and
// ignores the flags.
func Group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.FParseErrWhitelist.UnknownFlags = true
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		names := make([]string, len(commands))
		for i, one := range commands {
			names[i] = one.Name()
		}
		return fmt.Errorf("unknown command %q for %q: its commands are %s", args[0], c.CommandPath(),
			strings.Join(names, ", "))
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(commands...)
	return c
}
