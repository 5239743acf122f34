package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/telemetry"
)

// Service is a process that runs stages, as what is shown of it over HTTP needs to know it.
type Service struct {
	Process *stages.Process
	Config  *config.Config
	Stages  []string // that it runs
	Build   Build
}

// Conditions are what has to hold for the service to do its work; it asks the broker.
func (s Service) Conditions(ctx context.Context) []admin.Condition {
	var shown []admin.Condition
	for _, c := range s.Process.Conditions(ctx, s.Stages, rejoinTime(s.Config.Kafka)) {
		shown = append(shown, admin.Condition{Name: c.Name, OK: c.OK, Detail: c.Detail})
	}
	return shown
}

// Mount adds handlers to the HTTP server of a service, beside those of package admin, and returns what is to be called once
// the server has ended, or nil.
type Mount func(mux *http.ServeMux, service Service) (end func())

// serve starts the HTTP server of a process that runs stages, if one is configured, and returns what ends it. From the end of
// ctx on the process is not ready. The address that is the default may be taken, as by another process of this project on a
// laptop: then this one goes on without a server, and says so. One that was chosen has to be free.
func serve(ctx context.Context, plan config.MemoryPlan, service Service, mounts []Mount) (end func(), err error) {
	logger, listen := service.Process.Logger, service.Config.Admin.Listen
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
		logger.Warn("the default address is taken: no health, metrics and configuration are served; set admin.listen", zap.String("listen", listen))
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	logger.Info("health, metrics and configuration are served", zap.String("address", server.Addr()))
	unlink := whenStopped(ctx, server.Stopping)
	return func() {
		unlink()
		server.Close()
		endMounted()
	}, nil
}

func adminOptions(plan config.MemoryPlan, s Service) admin.Options {
	logger := s.Process.Logger
	registry := telemetry.NewRegistry(s.Process, telemetry.Process{
		Version: s.Build.Version, Revision: s.Build.Revision, MemoryLimit: plan.Limit, MemoryWorstCase: plan.Bytes,
	})
	return admin.Options{
		Listen: s.Config.Admin.Listen, Pprof: s.Config.Admin.Pprof, Logger: logger, Version: s.Build,
		Metrics: telemetry.Handler(registry, logger), Ready: s.Conditions,
		Config: func() ([]byte, error) {
			var text bytes.Buffer
			err := s.Config.Print(&text, true)
			return text.Bytes(), err
		},
	}
}

// rejoinTime is how long joining a group again may take: until the last member has finished its work, or was given up.
func rejoinTime(c kafka.Config) time.Duration {
	defaults := kafka.DefaultConfig()
	return cmp.Or(c.RebalanceTimeout, defaults.RebalanceTimeout) + cmp.Or(c.SessionTimeout, defaults.SessionTimeout)
}

// flushTimeout bounds the sending of the last spans.
const flushTimeout = 5 * time.Second

// trace gives the runtime a tracer, if traces are configured, and returns what sends the last spans.
func trace(ctx context.Context, loaded *config.Config, runtime *stages.Process, build Build) (end func(), err error) {
	if loaded.Traces.Endpoint == "" {
		return func() {}, nil
	}
	provider, err := telemetry.StartTracing(ctx, telemetry.TraceOptions{
		Endpoint: loaded.Traces.Endpoint, SampleRatio: loaded.Traces.SampleRatio,
		Service: "eerf-" + build.Program, Pipeline: loaded.Stages.Pipeline.Name, Version: build.Version,
	}, runtime.Logger)
	if err != nil {
		return nil, err
	}
	runtime.Tracer = telemetry.Tracer(provider)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			runtime.Logger.Warn("last traces not sent", zap.Error(err))
		}
	}, nil
}
