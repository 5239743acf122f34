package events

import (
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
)

// Config configures the reading of events.
type Config struct {
	Columns  `key:",squash"`
	Handling `key:",squash"`
}

// Columns configures the use of the columns of an event. All of its settings are in the hash of
// package calibrate: a changed value starts an exploration.
type Columns struct {
	Format           formats.Format `key:"format" json:",omitempty" doc:"format of the messages (docs/formats.md); auto = detected from the first bytes of each"`
	Schema           string         `key:"schema" json:",omitempty" doc:"file with the schema of bare messages: Avro's JSON, or a .proto file whose first message is meant; with it, no message has a frame; empty = none"`
	Features         []string       `key:"features" doc:"feature columns; empty = every readable column except label, passthrough, identifiers and free text"`
	Include          []string       `key:"include" json:",omitempty" doc:"columns that are features even if they look like identifiers or free text"`
	Types            []string       `key:"types" json:",omitempty" doc:"types of columns as name=type, where the rows must not decide them: category, number, number with decimal comma, boolean, time of day, date, date dd/mm/yyyy, date mm/dd/yyyy, date yyyymmdd, date in seconds, date in milliseconds, date in microseconds, date in nanoseconds (since 1970)"`
	NullValues       []string       `key:"null_values" json:",omitempty" doc:"texts and numbers that mean a missing value, in addition to the empty text, the words of pandas (NA, n/a, NaN, NULL, None, ...) and ?"`
	Exclude          []string       `key:"exclude" doc:"columns that are never features"`
	Passthrough      []string       `key:"passthrough" doc:"columns copied to the features topic, not used as features"`
	Group            string         `key:"group" json:",omitempty" doc:"column whose rows of one value, such as those of a customer, are held out together when errors are measured; empty = equal rows are held out together"`
	Label            []string       `key:"label" doc:"label column; several for a regression with several outputs"`
	Task             string         `key:"task" doc:"auto (string and boolean labels are classes, numbers a regression), regression or classification"`
	Classes          []string       `key:"classes" doc:"class names; empty = all classes of the rows that the exploration reads"`
	Clip             float64        `key:"clip" unit:"standard deviations" range:"0,1000000" doc:"standardized values beyond it continue as logarithms; 0 = off (the paper's setting)"`
	Standardize      string         `key:"standardize" doc:"numeric = numeric columns, all = one-hot and boolean columns too (the paper's setting), none"`
	MaxCategories    int            `key:"max_categories" range:"1,65535" doc:"how many of a string column's commonest values get a dimension of their own; all others share one, and the mean of the label by value gets one more"`
	MissingIndicator float64        `key:"missing_indicator" range:"0,1" doc:"a column with a larger share of missing values in calibration gets an extra dimension that marks them; 1 = never"`
	NaN              string         `key:"nan" doc:"how NaN in a feature is treated: missing = as a missing value, reject = its row becomes a dead letter"`
	LabelMin         *float64       `key:"label_min" doc:"rows with a smaller label are rejected; unset = no bound"`
	LabelMax         *float64       `key:"label_max" doc:"rows with a larger label are rejected; unset = no bound"`
	LabelTransform   string         `key:"label_transform" json:",omitempty" doc:"transform of a regression label before learning: none; log or log1p, the logarithm of the label or of 1 + the label, for prices, counts and durations. Rows whose label has no logarithm are rejected (label out of bounds). Predictions and errors stay in the units of the label; with a transform the prediction is a median, not a mean"`
}

// Handling holds settings for events whose changes start no exploration.
type Handling struct {
	ClassMinRows int64         `key:"class_min_rows" unit:"rows" range:"0,1000000000000" doc:"where classes is empty: labelled rows that a class needs to be learned, except the two commonest, and rows of a class unknown to the newest exploration, seen by one featurize process, after which a new one is requested; 0 = every class is learned, and none requested"`
	MaxClasses   int           `key:"max_classes" range:"2,1024" doc:"where classes is empty: the largest number of classes that an exploration learns; a label of more is refused. Memory for as many is counted"`
	MaxAhead     time.Duration `key:"max_ahead" unit:"duration" range:"0s,87600h" doc:"how far the time of an event may be after the time at which the broker appended its record or, on topics with CreateTime, which do not record it, the time of reading; a later one, or one outside the years 1970 to 9999, is treated as unknown"`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Columns: Columns{
			Format:           formats.Auto,
			Task:             encoder.TaskAuto,
			Clip:             encoder.DefaultClip,
			Standardize:      encoder.StandardizeNumeric,
			MaxCategories:    encoder.DefaultMaxCategories,
			MissingIndicator: encoder.DefaultMissingIndicator,
			NaN:              encoder.NaNMissing,
			LabelTransform:   encoder.TransformNone,
		},
		Handling: Handling{ClassMinRows: 20, MaxClasses: encoder.DefaultMaxClasses, MaxAhead: time.Hour},
	}
}

// UnknownClassRows is the number of rows of an unknown class after which the featurizer requests
// another exploration; 0 = never, as with configured classes.
func (c Config) UnknownClassRows() int64 {
	if len(c.Classes) > 0 {
		return 0
	}
	return c.ClassMinRows
}

// types returns the declared types by column. An entry without a type declares an empty one, which is
// a fault of the options.
func (c Config) types() map[string]string {
	if len(c.Types) == 0 {
		return nil
	}
	declared := make(map[string]string, len(c.Types))
	for _, entry := range c.Types {
		at := max(strings.LastIndexByte(entry, '='), 0)
		declared[entry[:at]] = strings.TrimPrefix(entry[at:], "=")
	}
	return declared
}

// Options returns the options for learning the encoder.
func (c Config) Options() encoder.Options {
	return encoder.Options{
		Features:         c.Features,
		Include:          c.Include,
		Types:            c.types(),
		NullWords:        c.NullValues,
		Exclude:          c.Exclude,
		Passthrough:      c.Passthrough,
		Label:            c.Label,
		Task:             c.Task,
		Classes:          c.Classes,
		ClassMinRows:     c.ClassMinRows,
		MaxClasses:       c.MaxClasses,
		Clip:             c.Clip,
		Standardize:      c.Standardize,
		MaxCategories:    c.MaxCategories,
		MissingIndicator: c.MissingIndicator,
		NaN:              c.NaN,
		LabelMin:         c.LabelMin,
		LabelMax:         c.LabelMax,
		LabelTransform:   c.LabelTransform,
	}
}

// Limits bounds the cost of one message.
type Limits struct {
	MaxMessageBytes int64 `key:"max_message_bytes" unit:"bytes" range:"1KiB,2147483647" doc:"larger event messages are refused"`
	BudgetBytes     int64 `key:"budget_bytes" unit:"bytes" range:"1KiB,1TiB" doc:"memory that decoding one message may allocate"`
	MaxRows         int   `key:"max_rows" unit:"rows" range:"1,2147483647" doc:"maximum rows in one message; larger messages are refused"`
	MaxColumns      int   `key:"max_columns" range:"1,1000000" doc:"more columns in one message are refused"`
	Amplification   int64 `json:"-" key:"amplification" unit:"bytes" range:"0,1TiB" doc:"most bytes of features and dead letters that featurize makes for each byte of a message, beyond the first 16 MiB; a message that could give more is refused, as is one whose dead letters could be 64 times its size. 0 = the size of a row of features, so that every row must come with at least one byte"`
	// CompressedAmplification relates to the compressed size at the broker.
	CompressedAmplification int64 `json:"-" key:"compressed_amplification" unit:"bytes" range:"0,1TiB" doc:"the same for each byte of a message as compressed at the broker. 0 = the size of 1,024 rows of features: in every codec, this admits messages of two or more constant four-byte columns, and messages of any column whose features take less than 16 MiB"`
}

// DefaultLimits returns the limits of an empty configuration.
func DefaultLimits() Limits {
	return Limits{MaxMessageBytes: 8 << 20, BudgetBytes: 64 << 20, MaxRows: 1 << 20, MaxColumns: 4096}
}

// Decoder returns the limits for the message decoder.
func (c Limits) Decoder() arrowio.Limits {
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = c.MaxMessageBytes
	limits.BudgetBytes = c.BudgetBytes
	limits.MaxRows = c.MaxRows
	limits.MaxColumns = c.MaxColumns
	return limits
}
