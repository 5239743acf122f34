package stages

import (
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// PipelineConfig names a pipeline.
type PipelineConfig struct {
	Name string `key:"name" doc:"name of the pipeline: part of the names of its topics, key of its records and part of the names of its consumer groups; a-z, 0-9 and -, at most 64"`
}

// Settings is everything the stages are configured with, by package. Package config loads and checks it. The tags
// of the structs carry the reference text: key is the key, doc the meaning, unit the unit (where there is one).
type Settings struct {
	Pipeline    PipelineConfig   `key:"pipeline"`
	Topics      topics.Config    `key:"topics"`
	Events      events.Config    `key:"events"`
	Exploration calibrate.Config `key:"exploration"`
	Subsample   subsample.Config `key:"subsample"`
	Featurize   featurize.Config `key:"featurize"`
	Train       train.Config     `key:"train"`
	Limits      events.Limits    `key:"limits"`
}

// Default returns the settings of an empty configuration.
func Default() Settings {
	const pipeline = "default"
	return Settings{
		Pipeline: PipelineConfig{Name: pipeline}, Topics: topics.Default().Unnamed().Named(pipeline), Events: events.Default(),
		Exploration: calibrate.Default(), Subsample: subsample.Default(), Featurize: featurize.Default(), Train: train.Default(),
		Limits: events.DefaultLimits(),
	}
}

// Plan is what a plan of an exploration follows from.
func (s Settings) Plan() calibrate.Settings {
	return calibrate.Settings{
		Pipeline: s.Pipeline.Name, Events: s.Events, Exploration: s.Exploration, Limits: s.Limits,
		EventsTopic: s.Topics.Events, MaxMessageBytes: s.Topics.MaxMessageBytes,
	}
}

// State says whose control topics are followed.
func (s Settings) State() state.Config {
	t := s.Topics
	return state.Config{
		Pipeline: s.Pipeline.Name, Explorations: t.Explorations, FeatureSets: t.FeatureSets, Models: t.Models, Scores: t.Scores,
		MaxMessageBytes: t.MaxMessageBytes, KeepFeatureSets: t.KeepFeatureSets, KeepModels: t.KeepModels, Retention: t.FeaturesRetention,
	}
}

// Group is the consumer group of a stage.
func (s Settings) Group(stage string) string { return "eerf-" + s.Pipeline.Name + "-" + stage }
