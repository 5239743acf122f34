package config

import (
	"time"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
)

// Config is everything that can be configured.
type Config struct {
	Kafka    kafka.Config    `koanf:"kafka"`
	Stages   stages.Settings `koanf:",squash"`
	Log      LogConfig       `koanf:"log"`
	Shutdown ShutdownConfig  `koanf:"shutdown"`
}

// LogConfig says what is logged and how.
type LogConfig struct {
	Level  string `koanf:"level" doc:"lowest level that is logged: debug, info, warn or error"`
	Format string `koanf:"format" doc:"json (for machines) or console (for people)"`
}

// ShutdownConfig says how a process ends.
type ShutdownConfig struct {
	DrainTimeout time.Duration `koanf:"drain_timeout" unit:"duration" doc:"how long work in flight may take to finish after a signal to stop or the loss of a partition, less than kafka.rebalance_timeout; what is unfinished then is done again after the next start"`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	brokers := kafka.DefaultConfig()
	brokers.Brokers = []string{"localhost:9092"} // where a first broker on one's own machine listens
	return &Config{
		Kafka:    brokers,
		Stages:   stages.Default(),
		Log:      LogConfig{Level: "info", Format: "json"},
		Shutdown: ShutdownConfig{DrainTimeout: 25 * time.Second},
	}
}
