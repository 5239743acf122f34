package events

import (
	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
)

// Config says what the columns of an event are used for.
type Config struct {
	Format           formats.Format `key:"format" json:",omitempty" doc:"how messages are written: arrow, json, avro, protobuf, or auto = as the first bytes of each say (docs/formats.md)"`
	Schema           string         `key:"schema" json:",omitempty" doc:"file with the schema of messages that name none: Avro's JSON, or a .proto file whose first message is meant; of Avro with a registry it is the reader's schema, with its defaults and aliases; empty = none"`
	Features         []string       `key:"features" doc:"feature columns; empty = every column that can be read but label, passthrough, identifiers and text"`
	Exclude          []string       `key:"exclude" doc:"columns that are never features"`
	Passthrough      []string       `key:"passthrough" doc:"columns copied to the features topic, not used as features"`
	Label            []string       `key:"label" doc:"label column; several for a regression with several outputs"`
	Task             string         `key:"task" doc:"auto (string and boolean labels are classes, numbers a regression), regression or classification"`
	Classes          []string       `key:"classes" doc:"class names; empty = all classes of the rows that the exploration reads"`
	ClassMinRows     int64          `key:"class_min_rows" json:",omitempty" unit:"rows" doc:"where classes is empty: of a class that the newest exploration does not know, so many rows in one featurize process since that exploration was planned start another one; 0 = never"`
	Clip             float64        `key:"clip" unit:"standard deviations" doc:"bound on standardized values; 0 = off (the paper's setting)"`
	Standardize      string         `key:"standardize" doc:"numeric = numeric columns, all = one-hot and boolean columns too (the paper's setting), none"`
	MaxCategories    int            `key:"max_categories" doc:"of a string column so many of the commonest values have a dimension each, all others share one"`
	MissingIndicator float64        `key:"missing_indicator" doc:"a column with a greater share of missing values in calibration has a dimension more, which says where; 1 = never"`
	NaN              string         `key:"nan" doc:"a feature that is NaN: missing (it is a missing value) or reject (its row is a dead letter)"`
	LabelMin         *float64       `key:"label_min" doc:"rows with a smaller label are rejected; unset = no bound"`
	LabelMax         *float64       `key:"label_max" doc:"rows with a larger label are rejected; unset = no bound"`
	LabelTransform   string         `key:"label_transform" json:",omitempty" doc:"what is learned of a regression label: none = itself; log or log1p, its logarithm or that of 1 + it, for prices, counts, durations. Rows that have none are rejected (label beyond bounds). Predictions and errors are in the units of the label; what is predicted is then a median, not a mean"`
}

// Default is what an empty configuration says.
func Default() Config {
	return Config{
		Format: formats.Auto, Task: encoder.TaskAuto, Clip: encoder.DefaultClip, Standardize: encoder.StandardizeNumeric,
		MaxCategories: encoder.DefaultMaxCategories, MissingIndicator: encoder.DefaultMissingIndicator, NaN: encoder.NaNMissing,
		ClassMinRows: 1000, LabelTransform: encoder.TransformNone,
	}
}

// AskFrom is how many rows of a class that explorations do not know have another one asked for; 0 = never, as where the classes
// are configured.
func (c Config) AskFrom() int64 {
	if len(c.Classes) > 0 {
		return 0
	}
	return c.ClassMinRows
}

// Options is what the encoder is asked to learn.
func (c Config) Options() encoder.Options {
	return encoder.Options{
		Features: c.Features, Exclude: c.Exclude, Passthrough: c.Passthrough, Label: c.Label, Task: c.Task,
		Classes: c.Classes, Clip: c.Clip, Standardize: c.Standardize, MaxCategories: c.MaxCategories,
		MissingIndicator: c.MissingIndicator, NaN: c.NaN, LabelMin: c.LabelMin, LabelMax: c.LabelMax, LabelTransform: c.LabelTransform,
	}
}

// Limits bounds what one message may cost.
type Limits struct {
	MaxMessageBytes int64 `key:"max_message_bytes" unit:"bytes" doc:"larger event messages are refused"`
	BudgetBytes     int64 `key:"budget_bytes" unit:"bytes" doc:"memory that decoding one message may allocate"`
	MaxRows         int   `key:"max_rows" unit:"rows" doc:"more rows in one message are refused"`
	MaxColumns      int   `key:"max_columns" doc:"more columns in one message are refused"`
	Amplification   int64 `json:"-" key:"amplification" unit:"bytes" doc:"output bytes that featurize makes for each byte of a message, beyond the first 16 MiB; a message that would give more is refused. 0 = the size of a row of features: each row has to come with a byte"`
}

// DefaultLimits are those of an empty configuration.
func DefaultLimits() Limits {
	return Limits{MaxMessageBytes: 8 << 20, BudgetBytes: 64 << 20, MaxRows: 1 << 20, MaxColumns: 4096}
}

// Decoder is the limits for the decoder of messages.
func (c Limits) Decoder() arrowio.Limits {
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = c.MaxMessageBytes
	limits.BudgetBytes = c.BudgetBytes
	limits.MaxRows = c.MaxRows
	limits.MaxColumns = c.MaxColumns
	return limits
}
