package cli

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/config"
)

// SettingFlags are flags of a command each of which sets a configuration key.
type SettingFlags struct {
	c    *cobra.Command
	sets []settingFlag
}

// settingFlag is a flag, the configuration key that it sets, and its help.
type settingFlag struct{ name, key, help string }

var explorationFlags = []settingFlag{
	{"label", "events.label", "label column (several, with commas, for a regression with several outputs)"},
	{"task", "events.task", "auto, regression or classification"},
	{"label-transform", "events.label_transform", "what is learned of a regression label: none, log or log1p"},
	{"exclude", "events.exclude", "columns, with commas, that are not features"},
	{"passthrough", "events.passthrough", "columns, with commas, that are copied beside the features"},
	{"standardize", "events.standardize", "numeric, all (the paper) or none"},
	{"clip", "events.clip", "bound on standardized values; 0 = off (the paper)"},
	{"map", "exploration.map", "feature map: cosine, arccos0, arccos1, arccos2, linear"},
	{"distribution", "exploration.distribution", "sampling distribution: gaussian, cauchy, laplace, matern, uniform"},
	{"sampler", "exploration.sampler", "how candidates are drawn: iid, structured (SORF), orthogonal (ORF), quasi (Halton)"},
	{"nu", "exploration.nu", "smoothness of the Matern kernel"},
	{"sigma", "exploration.sigma", "bandwidth; 0 = 50th-nearest-neighbour rule"},
	{"bandwidth-mix", "exploration.bandwidth_mix", "scales of the bandwidth, such as 1,2,4: each candidate has one (cosine map)"},
	{"criterion", "exploration.criterion", "correlation, energy (the paper), residual (in rounds), or adaptive (learns where to draw, and moves what it chose); the last two work on the sampled rows in memory"},
	{"rounds", "exploration.rounds", "R, rounds of each choice by residual"},
	{"refine-steps", "exploration.refine_steps", "steps by which criterion adaptive moves the chosen frequencies, at most, before and after a last round; 0 = rounds alone"},
	{"candidates", "exploration.candidates", "M0, candidates drawn; 0 = ten times the features, twenty times under criterion adaptive"},
	{"features", "exploration.features", "M, features kept"},
	{"candidate-memory", "exploration.candidate_memory", "memory for candidates, such as 2GiB; those beyond it are drawn again and again"},
	{"sample", "exploration.sample_rate", "share of rows that is scored, in (0, 1], or auto: as many as exploration.sample_rows"},
	{"seed", "exploration.seed", "seed of candidates and row sampling"},
}

var trainFlags = []settingFlag{
	{"intercept", "train.intercept", "fit an intercept; --intercept=false is the paper's setting"},
	{"lambda-grid", "train.lambda_grid", "relative, paper (1e-5 to 1e5 absolute), or numbers with commas"},
	{"held-out", "train.held_out_fraction", "share of rows on which lambda is chosen"},
	{"loss", "train.loss", "auto (logistic for classes, squared for a regression), squared or logistic, which keeps rows in memory (train.row_memory)"},
}

// AddExploration defines the settings of an exploration that people change most.
func (s *SettingFlags) AddExploration(c *cobra.Command) { s.add(c, explorationFlags) }

// AddTrain defines the settings of training that people change most.
func (s *SettingFlags) AddTrain(c *cobra.Command) { s.add(c, trainFlags) }

// add defines flags whose help names the default of their key.
func (s *SettingFlags) add(c *cobra.Command, flags []settingFlag) {
	s.c, s.sets = c, append(s.sets, flags...)
	keys := map[string]config.Key{}
	for _, key := range config.Keys() {
		keys[key.Name] = key
	}
	for _, f := range flags {
		key, known := keys[f.key]
		if !known {
			panic("cli: flag --" + f.name + " sets " + f.key + ", which is no key")
		}
		if key.Type == "true or false" {
			c.Flags().Bool(f.name, key.Default == "true", f.help)
			continue
		}
		help := f.help
		if key.Default != "" && key.Default != "[]" {
			help += " (default " + key.Default + ")"
		}
		c.Flags().String(f.name, "", help)
	}
}

// Names are those of the flags.
func (s *SettingFlags) Names() []string {
	names := make([]string, len(s.sets))
	for i, one := range s.sets {
		names[i] = one.name
	}
	return names
}

// Overrides returns what was set on the command line, by configuration key.
func (s *SettingFlags) Overrides() map[string]any {
	set := map[string]any{}
	for _, one := range s.sets {
		if flag := s.c.Flags().Lookup(one.name); flag.Changed {
			set[one.key] = flag.Value.String()
		}
	}
	return set
}
