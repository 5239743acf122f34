package config

import (
	"time"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/serve"
)

// Config is everything that can be configured.
type Config struct {
	Kafka    kafka.Config    `key:"kafka"`
	Registry registry.Config `key:"registry"`
	Stages   stages.Settings `key:",squash"`
	Log      LogConfig       `key:"log"`
	Shutdown ShutdownConfig  `key:"shutdown"`
	Memory   MemoryConfig    `key:"memory"`
	Admin    AdminConfig     `key:"admin"`
	Status   StatusConfig    `key:"status"`
	Traces   TracesConfig    `key:"traces"`
	Serve    serve.Config    `key:"serve"`
}

// LogConfig configures the log.
type LogConfig struct {
	Level  string `key:"level" doc:"lowest level to log: debug, info, warn or error"`
	Format string `key:"format" doc:"json (for machines), console (for people), or auto: console on a terminal, json elsewhere"`
}

// Values of log.format.
const (
	LogAuto    = "auto" // console on a terminal, json elsewhere
	LogConsole = "console"
	LogJSON    = "json"
)

// ShutdownConfig configures the end of a process.
type ShutdownConfig struct {
	DrainTimeout time.Duration `key:"drain_timeout" unit:"duration" range:"1ms,24h" doc:"how long work in progress may take to finish after a signal to stop or the loss of a partition; less than kafka.rebalance_timeout. Unfinished work is redone after the next start"`
}

// MemoryConfig bounds the memory of a process.
type MemoryConfig struct {
	Limit      int64 `key:"limit" unit:"bytes" range:"128MiB,1PiB" zero:"GOMEMLIMIT or the limit of the control group" doc:"resident memory that a process may use, as its container allows. Near it the Go runtime collects garbage more often, and a process whose stages and partitions could need more does not start. 0 = GOMEMLIMIT, else the limit of the control group, else none; these limits cause a warning, not a refusal"`
	Partitions int   `key:"partitions" range:"1,1000000" zero:"all of topics.partitions" doc:"most event partitions that one process will own, used to compute the memory that it may need; 0 = all of topics.partitions"`
	Messages   int   `key:"messages" range:"1,65536" zero:"two more than the number of processors" doc:"messages that a process decodes and processes at a time, each with the memory that limits.budget_bytes and limits.max_message_bytes allow; 0 = two more than the number of processors (GOMAXPROCS)"`
}

// AdminConfig configures the HTTP server for health, metrics and configuration.
type AdminConfig struct {
	Listen string `key:"listen" doc:"address of the HTTP server for health, metrics, version and configuration, host:port; :9464 listens on all addresses, without authentication; empty = no server"`
	Pprof  bool   `key:"pprof" doc:"also serve profiles of the Go runtime, under /debug/pprof/"`
}

// StatusConfig configures the status page.
type StatusConfig struct {
	Enabled bool `key:"enabled" doc:"serve the status page under /status/ at admin.listen"`
}

// DefaultListen is the default address of the HTTP server: reachable from this machine only, on the
// port commonly used for metrics.
const DefaultListen = "127.0.0.1:9464"

// TracesConfig configures where traces are sent.
type TracesConfig struct {
	Endpoint    string  `key:"endpoint" doc:"URL of an OpenTelemetry collector that accepts traces by OTLP over HTTP, such as http://localhost:4318/v1/traces; empty = no traces. Headers and certificates come from OpenTelemetry's own environment variables (OTEL_EXPORTER_OTLP_HEADERS)"`
	SampleRatio float64 `key:"sample_ratio" range:"0,1" doc:"share of the traces started here to keep, in [0, 1]; events that carry a trace (header traceparent) follow the decision made at its start"`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	brokers := kafka.DefaultConfig()
	brokers.Brokers = []string{"localhost:9092"} // the usual address of a broker on the same machine
	return &Config{
		Kafka:    brokers,
		Registry: registry.Default(),
		Stages:   stages.Default(),
		Log:      LogConfig{Level: "info", Format: LogAuto},
		Shutdown: ShutdownConfig{DrainTimeout: 25 * time.Second},
		Admin:    AdminConfig{Listen: DefaultListen},
		Status:   StatusConfig{Enabled: true},
		Traces:   TracesConfig{SampleRatio: 0.01},
		Serve:    serve.Default(),
	}
}
