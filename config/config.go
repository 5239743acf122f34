package config

import (
	"time"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages"
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
}

// LogConfig says what is logged and how.
type LogConfig struct {
	Level  string `key:"level" doc:"lowest level that is logged: debug, info, warn or error"`
	Format string `key:"format" doc:"json (for machines) or console (for people)"`
}

// ShutdownConfig says how a process ends.
type ShutdownConfig struct {
	DrainTimeout time.Duration `key:"drain_timeout" unit:"duration" doc:"how long work in flight may take to finish after a signal to stop or the loss of a partition, less than kafka.rebalance_timeout; what is unfinished then is done again after the next start"`
}

// MemoryConfig bounds the memory of a process.
type MemoryConfig struct {
	Limit      int64 `key:"limit" unit:"bytes" doc:"resident memory of a process, as its container allows: the Go runtime collects garbage more often as it comes within a tenth of it, and a process that could need more for its stages and partitions does not start; 0 = GOMEMLIMIT, else the limit of the control group, else none, and a warning instead of a refusal"`
	Partitions int   `key:"partitions" doc:"partitions of events that one process is to hold at most, by which the memory that it may need is counted; 0 = all of topics.partitions"`
}

// AdminConfig says where a service is asked for its health, metrics and configuration.
type AdminConfig struct {
	Listen string `key:"listen" doc:"address of the HTTP server with health, metrics, version and configuration, host:port; :9464 listens on all addresses, to whoever reaches them; empty = no server"`
	Pprof  bool   `key:"pprof" doc:"serve profiles of the Go runtime under /debug/pprof/ too"`
}

// StatusConfig says what the status page may do.
type StatusConfig struct {
	Enabled bool   `key:"enabled" doc:"serve the status page under /status/ at admin.listen"`
	Token   string `key:"token" secret:"true" doc:"who gives it may start an exploration from the status page, 16 bytes or more; best taken from the environment; empty = the page only shows"`
}

// DefaultListen is the address of the HTTP server unless told otherwise: for this machine alone, on the port that is usual for
// what metrics are read from.
const DefaultListen = "127.0.0.1:9464"

// TracesConfig says where traces go.
type TracesConfig struct {
	Endpoint    string  `key:"endpoint" doc:"URL that an OpenTelemetry collector takes traces at, by OTLP over HTTP, as http://localhost:4318/v1/traces; empty = no traces. Headers and certificates are taken from the variables that OpenTelemetry defines for them (OTEL_EXPORTER_OTLP_HEADERS)"`
	SampleRatio float64 `key:"sample_ratio" doc:"share of the traces begun here that is kept, in [0, 1]; for events that carry a trace (header traceparent) its beginner has decided"`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	brokers := kafka.DefaultConfig()
	brokers.Brokers = []string{"localhost:9092"} // where a first broker on one's own machine listens
	return &Config{
		Kafka:    brokers,
		Registry: registry.Default(),
		Stages:   stages.Default(),
		Log:      LogConfig{Level: "info", Format: "json"},
		Shutdown: ShutdownConfig{DrainTimeout: 25 * time.Second},
		Admin:    AdminConfig{Listen: DefaultListen},
		Status:   StatusConfig{Enabled: true},
		Traces:   TracesConfig{SampleRatio: 0.01},
	}
}
