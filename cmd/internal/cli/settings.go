package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/scoring"
)

// SettingFlags are flags that each set a configuration key.
type SettingFlags struct {
	c    *cobra.Command
	sets []settingFlag
}

// settingFlag is a flag with its configuration key and help.
type settingFlag struct{ name, key, help string }

var explorationFlags = []settingFlag{
	{"label", "events.label", "column to predict; several, comma-separated, for a regression with several outputs"},
	{"task", "events.task", "auto, regression or classification"},
	{"label-transform", "events.label_transform", "transform of a regression label: none, log or log1p"},
	{"include", "events.include", "comma-separated columns that are features even if they look like identifiers or text"},
	{"type", "events.types", "comma-separated types of columns, such as store=category or opened=date dd/mm/yyyy"},
	{"exclude", "events.exclude", "comma-separated columns that are not features"},
	{"group", "events.group", "column whose rows of one value are held out together; empty = equal rows are"},
	{"passthrough", "events.passthrough", "comma-separated columns that are copied to the output"},
	{"standardize", "events.standardize", "numeric, all (the paper) or none"},
	{"clip", "events.clip", "bound beyond which standardized values grow logarithmically; 0 = off (the paper)"},
	{"map", "exploration.map", "feature map: " + strings.Join(scoring.MapCosine.Names(), ", ")},
	{"distribution", "exploration.distribution", "sampling distribution: " + strings.Join(scoring.Gaussian.Names(), ", ")},
	{"sigma", "exploration.sigma", "bandwidth; 0 = 50th-nearest-neighbour rule"},
	{"criterion", "exploration.criterion", "how features are chosen: " + strings.Join(scoring.Energy.Names(), ", ")},
	{"rounds", "exploration.rounds", "R, rounds of selection by residual"},
	{"refine-steps", "exploration.refine_steps",
		"maximum number of gradient steps that move the chosen frequencies under criterion adaptive; 0 = none"},
	{"members", "exploration.members",
		"sets that criterion adaptive learns independently, each of its share of the features, and publishes as one; " +
			"0 = one for every 250 features, at most 4"},
	{"candidates", "exploration.candidates",
		"M0, candidates drawn; 0 = ten times the features"},
	{"features", "exploration.features", "M, features kept"},
	{"sample", "exploration.sample_rate",
		"share of rows that is scored, in (0, 1], or auto: about exploration.sample_rows rows"},
	{"seed", "exploration.seed", "seed of candidates and row sampling"},
}

var trainFlags = []settingFlag{
	{"intercept", "train.intercept", "fit an intercept; --intercept=false is the paper's setting"},
	{"lambda-grid", "train.lambda_grid",
		"relative, paper (1e-5 to 1e5 absolute), or comma-separated numbers"},
	{"window", "train.window",
		"number of newest rows of the features topic to train on, approximately; 0 = all; files are used whole"},
	{"held-out", "train.held_out_fraction", "share of rows on which lambda is chosen"},
	{"loss", "train.loss", "auto (logistic for classes, squared for a regression), squared, " +
		"or logistic, which keeps rows in memory (train.row_memory)"},
	{"measure", "train.measure", "measure by which models are judged: auto (log_loss for classes, " +
		"unexplained_variance for numbers), misclassification or absolute_error"},
}

// AddExploration defines flags for the most used settings of explorations.
func (s *SettingFlags) AddExploration(c *cobra.Command) { s.add(c, explorationFlags) }

// AddTrain defines flags for the most used settings of training.
func (s *SettingFlags) AddTrain(c *cobra.Command) { s.add(c, trainFlags) }

// add defines flags. Their help names the default of the key.
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
		} else {
			help := f.help
			if key.Default != "" && key.Default != "[]" {
				help += " (default " + key.Default + ")"
			}
			c.Flags().Var(&settingValue{kind: valueWord(key.Type)}, f.name, help)
		}
	}
}

// settingValue is the text that a flag sets; kind names its type in help.
type settingValue struct{ text, kind string }

// String implements [pflag.Value].
func (v *settingValue) String() string { return v.text }

// Set implements [pflag.Value]. The configuration later reports all invalid values at once.
func (v *settingValue) Set(text string) error {
	v.text = text
	return nil
}

// Type implements [pflag.Value].
func (v *settingValue) Type() string { return v.kind }

// valueWord returns the word for values of a type in help.
func valueWord(keyType string) string {
	switch keyType {
	case "number", "size", "name", "duration":
		return keyType
	case "whole number":
		return "number"
	case "list of text":
		return "names"
	case "list of numbers":
		return "numbers"
	}
	return "value"
}

// Names returns the names of the flags.
func (s *SettingFlags) Names() []string {
	names := make([]string, len(s.sets))
	for i, one := range s.sets {
		names[i] = one.name
	}
	return names
}

// Overrides returns the values set on the command line, by configuration key.
func (s *SettingFlags) Overrides() map[string]any {
	set := map[string]any{}
	for _, one := range s.sets {
		if flag := s.c.Flags().Lookup(one.name); flag.Changed {
			set[one.key] = flag.Value.String()
		}
	}
	return set
}
