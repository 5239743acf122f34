package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// PipelineConfig names a pipeline.
type PipelineConfig struct {
	Name string `key:"name" doc:"name of the pipeline: part of the names of its topics, key of its records and part of the names of its consumer groups; a-z, 0-9 and -, at most 64"`
	// AcceptChange is the hash in a [calibrate.TakeoverError].
	AcceptChange string `key:"accept_change" doc:"hash that accepts one change of label, task or events topic; the log and /readyz report it when these settings differ from the pipeline's newest exploration. Without it nothing is planned, so that a second pipeline with the same name does not replace the feature sets and models of the first; empty = accept none"`
}

// Settings configures the stages, by package. Package config loads and checks it. The struct tags
// hold the reference text: key is the key, doc the meaning, unit the optional unit.
type Settings struct {
	Pipeline    PipelineConfig    `key:"pipeline"`
	Topics      topics.Config     `key:"topics"`
	Events      events.Config     `key:"events"`
	Exploration calibrate.Config  `key:"exploration"`
	Subsample   subsample.Config  `key:"subsample"`
	Featurize   featurize.Config  `key:"featurize"`
	Train       train.Config      `key:"train"`
	Predict     featurize.Predict `key:"predict"`
	Live        live.Config       `key:"live"`
	Limits      events.Limits     `key:"limits"`
}

// Default returns the settings of an empty configuration.
func Default() Settings {
	const pipeline = "default"
	return Settings{
		Pipeline: PipelineConfig{
			Name: pipeline,
		},
		Topics:      topics.Default().Unnamed().Named(pipeline),
		Events:      events.Default(),
		Exploration: calibrate.Default(),
		Subsample:   subsample.Default(),
		Featurize:   featurize.Default(),
		Train:       train.Default(),
		Limits:      events.DefaultLimits(),
	}
}

// Plan returns the settings that determine the plan of an exploration. A column of predictions is
// never a feature.
func (s Settings) Plan() calibrate.Settings {
	if column := s.Live.PredictionColumn; column != "" && !slices.Contains(s.Events.Exclude, column) {
		s.Events.Exclude = append(slices.Clone(s.Events.Exclude), column)
	}
	return calibrate.Settings{
		Pipeline:        s.Pipeline.Name,
		AcceptChange:    s.Pipeline.AcceptChange,
		Events:          s.Events,
		Exploration:     s.Exploration,
		Limits:          s.Limits,
		EventsTopic:     s.Topics.Events,
		MaxMessageBytes: s.Topics.MaxMessageBytes,
		HeldOutSeed:     s.Train.HeldOutSeed,
		HeldOutFraction: s.Train.HeldOutFraction,
	}
}

// SetsOf returns the pipeline that supplies feature sets and models: this one, or the one named by
// featurize.sets_from.
func (s Settings) SetsOf() string { return cmp.Or(s.Featurize.SetsFrom, s.Pipeline.Name) }

// Runs lists the stages of the pipeline: all of them, or only featurize if another pipeline
// supplies the sets.
func (s Settings) Runs() []meter.Stage {
	if s.Featurize.SetsFrom != "" {
		return namesOf(func(e entry) bool { return e.borrows })
	}
	return Names()
}

// CheckStages returns an error for a stage that the pipeline does not run.
func (s Settings) CheckStages(names []meter.Stage) error {
	for _, name := range names {
		if !slices.Contains(s.Runs(), name) {
			return fmt.Errorf("pipeline %s has no stage %s: it uses the feature sets and models of pipeline %s"+
				" (featurize.sets_from), which runs that stage; this one runs only %s",
				s.Pipeline.Name, name, s.SetsOf(), strings.Join(Texts(s.Runs()), ", "))
		}
	}
	return nil
}

// State returns the configuration for following the control topics.
func (s Settings) State() state.Config {
	t := s.Topics
	return state.Config{
		Pipeline:        s.SetsOf(),
		ReadOnly:        s.Featurize.SetsFrom != "",
		Explorations:    t.Explorations,
		FeatureSets:     t.FeatureSets,
		Models:          t.Models,
		Scores:          t.Scores,
		MaxMessageBytes: t.MaxMessageBytes,
		KeepFeatureSets: t.KeepFeatureSets,
		KeepModels:      t.KeepModels,
		Retention:       t.FeaturesRetention,
	}
}

// Group is the consumer group of a stage.
func (s Settings) Group(stage meter.Stage) string { return env.Group(s.Pipeline.Name, stage) }
