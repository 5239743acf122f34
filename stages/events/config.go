package events

import (
	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
)

// Config says what the columns of an event are used for.
type Config struct {
	Format        formats.Format `key:"format" json:",omitempty" doc:"how messages are written: arrow, json, avro, protobuf, or auto = as the first bytes of each say (docs/formats.md)"`
	Schema        string         `key:"schema" json:",omitempty" doc:"file with the schema of messages that name none: Avro's JSON, or a .proto file whose first message is meant; of Avro with a registry it is the reader's schema, with its defaults and aliases; empty = none"`
	Features      []string       `key:"features" doc:"feature columns; empty = every numeric, boolean and string column but label and passthrough"`
	Exclude       []string       `key:"exclude" doc:"columns that are never features"`
	Passthrough   []string       `key:"passthrough" doc:"columns copied to the features topic, not used as features"`
	Label         []string       `key:"label" doc:"label column; several for a regression with several outputs"`
	Task          string         `key:"task" doc:"auto (string and boolean labels are classes, numbers a regression), regression or classification"`
	Classes       []string       `key:"classes" doc:"class names; empty = those seen in calibration"`
	Clip          float64        `key:"clip" unit:"standard deviations" doc:"bound on standardized values; 0 = off (the paper's setting)"`
	Standardize   string         `key:"standardize" doc:"numeric = numeric columns, all = one-hot and boolean columns too (the paper's setting), none"`
	MaxCategories int            `key:"max_categories" doc:"a string column with more distinct values is left out of the default features"`
	LabelMin      *float64       `key:"label_min" doc:"rows with a smaller label are rejected; unset = no bound"`
	LabelMax      *float64       `key:"label_max" doc:"rows with a larger label are rejected; unset = no bound"`
}

// Default is what an empty configuration says.
func Default() Config {
	return Config{
		Format: formats.Auto, Task: encoder.TaskAuto, Clip: encoder.DefaultClip, Standardize: encoder.StandardizeNumeric,
		MaxCategories: encoder.DefaultMaxCategories,
	}
}

// Options is what the encoder is asked to learn.
func (c Config) Options() encoder.Options {
	return encoder.Options{
		Features: c.Features, Exclude: c.Exclude, Passthrough: c.Passthrough, Label: c.Label, Task: c.Task,
		Classes: c.Classes, Clip: c.Clip, Standardize: c.Standardize, MaxCategories: c.MaxCategories,
		LabelMin: c.LabelMin, LabelMax: c.LabelMax,
	}
}

// Limits bounds what one message may cost.
type Limits struct {
	MaxMessageBytes int64 `key:"max_message_bytes" unit:"bytes" doc:"larger event messages are refused"`
	BudgetBytes     int64 `key:"budget_bytes" unit:"bytes" doc:"memory that decoding one message may allocate"`
	MaxRows         int   `key:"max_rows" unit:"rows" doc:"more rows in one message are refused"`
	MaxColumns      int   `key:"max_columns" doc:"more columns in one message are refused"`
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
