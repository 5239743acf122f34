package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// RunStages runs the named stages on the configured brokers until the command is stopped. Meanwhile
// it serves their health, metrics and mounts. At the end it logs the counters of the process, and
// prints them if asJSON is set.
func RunStages(c *cobra.Command, loaded *config.Config, names []meter.Stage, asJSON bool, mounts ...Mount) error {
	if err := loaded.Stages.CheckStages(names); err != nil {
		return Usagef("%w", err)
	}
	plan, err := loaded.CheckMemory(names)
	if err != nil {
		return err
	}
	limitKernel(loaded, names)
	runtime, closeAll, err := connect(c, loaded)
	if err != nil {
		return err
	}
	logMemory(runtime.Env.Logger, plan)
	defer closeAll()
	end, err := startAdmin(c.Context(), plan, Service{
		Process: runtime, Config: loaded, Stages: names, Build: BuildOf(c.Root().Name()),
	}, mounts)
	if err != nil {
		return err
	}
	defer end()
	defer whenStopped(c.Context(), func() {
		runtime.Env.Logger.Info("shutting down; finishing work in progress",
			zap.Duration("at_most", loaded.Shutdown.DrainTimeout))
	})()
	ended := runUntilStopped(c.Context(), shutdownBound(loaded), func(ctx context.Context) error {
		return runtime.Run(ctx, names...)
	})
	if ended != nil && !errors.Is(ended, meter.ErrUnfinished) {
		return ended
	}
	totals := runtime.Env.Meter.Totals()
	runtime.Env.Logger.Info("stopped", zap.Any("totals", totals))
	if asJSON {
		return errors.Join(WriteJSON(c.OutOrStdout(), totals), ended)
	}
	return ended
}

// limitKernel sets the configured arithmetic if the process runs stages whose results depend on it.
// Other processes keep the fastest one.
func limitKernel(loaded *config.Config, names []meter.Stage) {
	if stages.Explore(names) && loaded.Stages.Exploration.Kernel == calibrate.KernelPlain {
		scoring.LimitToPlain()
	}
}

// ConnectOnce returns the process of a one-shot command, connected to the configured brokers. On a
// terminal its log is text regardless of the configuration. The second value closes the connections
// and flushes the log.
func ConnectOnce(c *cobra.Command, loaded *config.Config) (*stages.Process, func(), error) {
	if isTerminal(c.ErrOrStderr()) {
		loaded.Log.Format = config.LogConsole
	}
	return connect(c, loaded)
}

// connect is ConnectOnce for a service.
func connect(c *cobra.Command, loaded *config.Config) (*stages.Process, func(), error) {
	logger, err := NewLogger(loaded.Log, c.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	if err := limitMemory(loaded); err != nil {
		return nil, nil, err
	}
	client, err := kafka.New(loaded.Kafka, logger)
	if err != nil {
		return nil, nil, err
	}
	runtime := stages.NewProcess(pipeline.Observe(client), loaded.Stages, logger)
	runtime.Env.DrainTimeout = loaded.Shutdown.DrainTimeout
	runtime.Env.Slots, runtime.Env.Partitions = events.NewSlots(loaded.Messages()), loaded.Partitions()
	if err := useSchemas(loaded, runtime); err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	endTraces, err := trace(c.Context(), loaded, runtime, BuildOf(c.Root().Name()))
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return runtime, func() {
		endTraces()
		within(shutdownSlack, func() { _ = client.Close() }) // waits for stages, which may still run
		_ = logger.Sync()                                    // standard error cannot always be synced
	}, nil
}
