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

// LogConfig says what is logged and how.
type LogConfig struct {
	Level  string `key:"level" doc:"lowest level that is logged: debug, info, warn or error"`
	Format string `key:"format" doc:"json (for machines), console (for people), or auto: console on a terminal, json elsewhere"`
}

// Values of log.format.
const (
	LogAuto    = "auto" // console on a terminal, json elsewhere
	LogConsole = "console"
	LogJSON    = "json"
)

// ShutdownConfig says how a process ends.
type ShutdownConfig struct {
	DrainTimeout time.Duration `key:"drain_timeout" unit:"duration" doc:"how long work in flight may take to finish after a signal to stop or the loss of a partition; less than kafka.rebalance_timeout. What is unfinished by then is done again after the next start"`
}

// MemoryConfig bounds the memory of a process.
type MemoryConfig struct {
	Limit      int64 `key:"limit" unit:"bytes" doc:"resident memory that a process may use, as its container allows: near it the Go runtime collects garbage more often, and a process whose stages and partitions could need more does not start; 0 = GOMEMLIMIT, else the limit of the control group, else none, and a warning instead of a refusal"`
	Partitions int   `key:"partitions" doc:"most partitions of events that one process is to hold, used to compute the memory that it may need; 0 = all of topics.partitions"`
	Messages   int   `key:"messages" doc:"messages that a process decodes and works on at a time, each with the memory that limits.budget_bytes and limits.max_message_bytes allow; 0 = two more than there are processors (GOMAXPROCS)"`
}

// AdminConfig says where a service serves its health, metrics and configuration.
type AdminConfig struct {
	Listen string `key:"listen" doc:"address of the HTTP server for health, metrics, version and configuration, host:port; :9464 listens on all addresses and answers anyone who can reach them; empty = no server"`
	Pprof  bool   `key:"pprof" doc:"also serve profiles of the Go runtime, under /debug/pprof/"`
}

// StatusConfig is about the status page.
type StatusConfig struct {
	Enabled bool `key:"enabled" doc:"serve the status page under /status/ at admin.listen"`
}

// DefaultListen is the default address of the HTTP server: only for this machine, on the port commonly used for
// metrics.
const DefaultListen = "127.0.0.1:9464"

// TracesConfig says where traces go.
type TracesConfig struct {
	Endpoint    string  `key:"endpoint" doc:"URL at which an OpenTelemetry collector takes traces, by OTLP over HTTP, such as http://localhost:4318/v1/traces; empty = no traces. Headers and certificates are taken from the variables that OpenTelemetry defines for them (OTEL_EXPORTER_OTLP_HEADERS)"`
	SampleRatio float64 `key:"sample_ratio" doc:"share of the traces begun here that is kept, in [0, 1]; for events that carry a trace (header traceparent) the decision made at its start applies"`
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
