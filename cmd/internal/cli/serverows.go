package cli

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/cmd/internal/admin"
	rows "github.com/eerf-stream/eerf/cmd/internal/serve"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/state"
)

// ServeRows answers requests about rows over HTTP until the command is stopped. It serves a pair
// from files or, if pair is nil, the current pair of the topics.
func ServeRows(c *cobra.Command, loaded *config.Config, pair *featurize.Pair, asJSON bool) error {
	plan, err := loaded.CheckServing()
	if err != nil {
		return err
	}
	runtime, closeAll, err := connectRows(c, loaded, pair != nil)
	if err != nil {
		return err
	}
	logMemory(runtime.Env.Logger, plan)
	defer closeAll()
	collectSeldom(plan)
	pairs := &serve.Pairs{
		Predictions: loaded.Serve.Predictions,
		Threshold:   loaded.Stages.Predict.Threshold,
		Serving:     runtime.Env.Meter.Serving(),
		Logger:      runtime.Env.Logger,
	}
	if pair != nil {
		pairs.Serve(pair)
	}
	build := BuildOf(c.Root().Name())
	server, err := rows.Start(rows.Options{
		Limiter: serve.NewLimiter(loaded.Serve, loaded.Stages.Limits.MaxColumns, pairs), Serving: runtime.Env.Meter.Serving(),
		Model: loaded.Stages.Pipeline.Name, Version: build.Version, Logger: runtime.Env.Logger,
	})
	if err != nil {
		return err
	}
	runtime.Env.Logger.Info("serving rows", zap.String("address", server.Addr()))
	if asJSON {
		if err := WriteJSON(c.OutOrStdout(), map[string]string{"address": server.Addr()}); err != nil {
			return errors.Join(err, server.Close(c.Context()))
		}
	}
	end, err := serveHealth(c.Context(), plan, loaded, runtime, build, server)
	if err != nil {
		return errors.Join(err, server.Close(c.Context()))
	}
	defer end()
	group, ctx := errgroup.WithContext(c.Context())
	if pair == nil {
		group.Go(func() error { return followPairs(ctx, runtime, pairs) })
	}
	group.Go(func() error {
		<-ctx.Done()
		return drainRows(runtime.Env.Logger, loaded, server)
	})
	return group.Wait()
}

// seldom is the GC percentage of a process that serves rows. A collection delays answers by up to a
// few milliseconds. The heap is so small that at the usual 100 a few megabytes of garbage, from
// some thousand requests, would start one. A memory limit starts collections earlier.
const seldom = 800

// collectSeldom sets that percentage unless the environment sets one. If nothing else limits
// memory, the worst-case need becomes the limit, because a heap of nine times a large pair would be
// more than operators plan for.
func collectSeldom(plan config.MemoryPlan) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(seldom)
	}
	if plan.Limit == 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(plan.Bytes)
	}
}

// connectRows returns the process of a service that answers requests about rows. With files it has
// no broker.
func connectRows(c *cobra.Command, loaded *config.Config, files bool) (*stages.Process, func(), error) {
	if !files {
		return connect(c, loaded)
	}
	logger, err := NewLogger(loaded.Log, c.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	if err := limitMemory(loaded); err != nil {
		return nil, nil, err
	}
	process := &stages.Process{Settings: loaded.Stages, Env: env.Env{
		Topics:   loaded.Stages.Topics,
		Pipeline: loaded.Stages.Pipeline.Name,
		Meter:    meter.New(),
		Logger:   logger,
		Clock:    failpoint.Now,
		State:    state.Still(loaded.Stages.State(), state.Snapshot{}),
		Live:     live.NewFollower(nil, logger, time.Now, "", ""), // knows nothing without a topic
	}}
	return process, func() { _ = logger.Sync() }, nil
}

// serveHealth starts the server for health and metrics.
func serveHealth(
	ctx context.Context,
	plan config.MemoryPlan,
	loaded *config.Config,
	runtime *stages.Process,
	build Build,
	server *rows.Server,
) (func(), error) {
	return startAdmin(ctx, plan, Service{
		Process: runtime, Config: loaded, Build: build,
		Ready: func() []admin.Condition {
			ok, detail := server.Ready()
			return []admin.Condition{{Name: "pair", OK: ok, Detail: detail}}
		},
	}, nil)
}

// followPairs follows the topics and retries on failure. The served pair stays meanwhile.
func followPairs(ctx context.Context, runtime *stages.Process, pairs *serve.Pairs) error {
	err := pipeline.Try(ctx, runtime.Env.Logger, "follow feature sets and models",
		func() error { return pairs.Follow(ctx, runtime.Env.State) })
	return pipeline.EndOf(ctx, err)
}

// drainRows ends a server: it reports not being ready, keeps answering for serve.drain_delay, and
// then finishes the requests in progress. A server that was not ready receives no requests from
// load balancers, so it needs no delay.
func drainRows(logger *zap.Logger, loaded *config.Config, server *rows.Server) error {
	var delay time.Duration
	if ready, _ := server.Ready(); ready {
		delay = loaded.Serve.DrainDelay
	}
	logger.Info("shutting down; draining requests",
		zap.Duration("accepted_for", delay),
		zap.Duration("then_finished_within", loaded.Shutdown.DrainTimeout))
	server.Stopping()
	time.Sleep(delay)
	ctx, cancel := context.WithTimeout(context.Background(), loaded.Shutdown.DrainTimeout)
	defer cancel()
	if server.Close(ctx) != nil {
		logger.Warn("drain timeout passed; requests in progress were cut off",
			zap.Duration("after", loaded.Shutdown.DrainTimeout))
		return meter.ErrUnfinished
	}
	logger.Info("stopped")
	return nil
}
