package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/stages"
)

// NewRegistry returns what gathers the metrics of a process: those of the stages, with the label pipeline, and those of the
// Go runtime (memory and its limit among them) and of the process as the client library names them.
func NewRegistry(runtime *stages.Runtime, process Process) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"pipeline": runtime.Settings.Pipeline.Name}
	prometheus.WrapRegistererWith(labels, registry).MustRegister(&collector{runtime: runtime, process: process})
	registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsMemory)),
	)
	return registry
}

// Handler serves the metrics of a registry in the text format of Prometheus or in OpenMetrics, as asked for.
func Handler(registry *prometheus.Registry, logger *zap.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:          zap.NewStdLog(logger.Named("metrics")),
		EnableOpenMetrics: true,
	})
}
