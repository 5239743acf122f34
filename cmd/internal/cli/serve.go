package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/telemetry"
)

// Service is a running process, for the handlers that show it over HTTP.
type Service struct {
	Process *stages.Process
	Config  *config.Config
	Stages  []meter.Stage // that the process runs
	Build   Build
	// Ready, unless nil, replaces the conditions of the stages.
	Ready func() []admin.Condition
}

// Conditions returns the conditions under which the service can do its work. It queries the broker.
func (s Service) Conditions(ctx context.Context) []admin.Condition {
	if s.Ready != nil {
		return s.Ready()
	}
	var shown []admin.Condition
	for _, c := range s.Process.Conditions(ctx, s.Stages, rejoinTime(s.Config.Kafka)) {
		shown = append(shown, admin.Condition{Name: c.Name, OK: c.OK, Detail: c.Detail})
	}
	return shown
}

// Mount adds handlers to the HTTP server of a service, next to those of package admin. It returns a
// function to call after the server has ended, or nil.
type Mount func(mux *http.ServeMux, service Service) (end func())

// adminTaken is logged where another process has the default address. Its answers are not those of
// this process, which a probe cannot tell except by the pipeline at /readyz.
const adminTaken = "default admin address is taken; running without health, metrics and status page: " +
	"requests to this address reach the other process (set admin.listen)"

// startAdmin starts the HTTP server of a process that runs stages, if one is configured, and
// returns a function that ends it. Once ctx ends, the process is not ready. If the default address
// is taken, for instance by another process of this project on a laptop, the process logs that and
// runs without a server. A configured address must be free.
func startAdmin(ctx context.Context, plan config.MemoryPlan, service Service, mounts []Mount) (end func(), err error) {
	logger, listen := service.Process.Env.Logger, service.Config.Admin.Listen
	if listen == "" {
		return func() {}, nil
	}
	var ends []func()
	endMounted := func() {
		for _, end := range ends {
			end()
		}
	}
	options := adminOptions(plan, service)
	options.Mount = func(mux *http.ServeMux) {
		for _, mount := range mounts {
			if end := mount(mux, service); end != nil {
				ends = append(ends, end)
			}
		}
	}
	server, err := admin.Start(options)
	if errors.Is(err, syscall.EADDRINUSE) && listen == config.DefaultListen {
		logger.Warn(adminTaken, zap.String("listen", listen))
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("admin.listen: %w", err)
	}
	logger.Info("serving health, metrics and configuration", zap.String("address", server.Addr()))
	unlink := whenStopped(ctx, server.Stopping)
	return func() {
		unlink()
		server.Close()
		endMounted()
	}, nil
}

func adminOptions(plan config.MemoryPlan, s Service) admin.Options {
	logger := s.Process.Env.Logger
	registry := telemetry.NewRegistry(s.Process, telemetry.Process{
		Version: s.Build.Version, Revision: s.Build.Revision, MemoryLimit: plan.Limit, MemoryWorstCase: plan.Bytes,
	})
	return admin.Options{
		Listen: s.Config.Admin.Listen, Pprof: s.Config.Admin.Pprof, Logger: logger, Version: s.Build,
		Pipeline: s.Config.Stages.Pipeline.Name,
		Metrics:  telemetry.Handler(registry, logger), Ready: s.Conditions,
		Config: func() ([]byte, error) {
			var text bytes.Buffer
			err := s.Config.Print(&text, true)
			return text.Bytes(), err
		},
	}
}

// rejoinTime bounds how long a group takes to rebalance: until the last member has finished its
// work or was removed.
func rejoinTime(c kafka.Config) time.Duration {
	defaults := kafka.DefaultConfig()
	return cmp.Or(c.RebalanceTimeout, defaults.RebalanceTimeout) + cmp.Or(c.SessionTimeout, defaults.SessionTimeout)
}

// flushTimeout bounds sending the last spans.
const flushTimeout = 5 * time.Second

// trace gives the runtime a tracer if traces are configured, and returns a function that sends the
// last spans.
func trace(ctx context.Context, loaded *config.Config, runtime *stages.Process, build Build) (end func(), err error) {
	if loaded.Traces.Endpoint == "" {
		return func() {}, nil
	}
	provider, err := telemetry.StartTracing(ctx, telemetry.TraceOptions{
		Endpoint: loaded.Traces.Endpoint, SampleRatio: loaded.Traces.SampleRatio,
		Service: "eerf-" + build.Program, Pipeline: loaded.Stages.Pipeline.Name, Version: build.Version,
	}, runtime.Env.Logger)
	if err != nil {
		return nil, err
	}
	runtime.Env.Tracer = telemetry.Tracer(provider)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			runtime.Env.Logger.Warn("last traces were not sent", zap.Error(err))
		}
	}, nil
}
