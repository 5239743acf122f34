package meter

import (
	"reflect"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// CalibrateCounts counts the input of calibration. It skips undecodable messages, which subsample
// turns into dead letters.
type CalibrateCounts struct {
	Messages    int64 `json:"messages"`
	Undecodable int64 `json:"undecodable"`
	Tombstones  int64 `json:"tombstones"` // messages with a null value, which have no rows
	Rows        int64 `json:"rows"`       // rows of the decodable messages, including rows not needed for learning
}

// FeaturizeCounts counts the messages and rows of featurize: Rows = Featurized + Rejected.
type FeaturizeCounts struct {
	Messages       int64 `json:"messages"`
	Undecodable    int64 `json:"undecodable"`
	Tombstones     int64 `json:"tombstones"` // messages with a null value, which have no rows
	Rows           int64 `json:"rows"`
	Featurized     int64 `json:"featurized"`
	Rejected       int64 `json:"rejected"`
	Imputed        int64 `json:"imputed"`
	UnseenCategory int64 `json:"unseen_category"`
	Clipped        int64 `json:"clipped"`
	UnseenClass    int64 `json:"unseen_class"`
	// MissingOffsets counts offsets that retention removed before they were read.
	MissingOffsets int64 `json:"missing_offsets"`
	// Featurized rows, with predictions enabled: rows with a prediction, and rows without one
	// because no model is active, the model belongs to another feature set, or it is unusable.
	Predicted     int64 `json:"predicted,omitempty"`
	NoModel       int64 `json:"no_model,omitempty"`
	OtherSetModel int64 `json:"other_set_model,omitempty"`
	UnusableModel int64 `json:"unusable_model,omitempty"`
}

// TrainCounts counts the messages that train read from the features topic.
type TrainCounts struct {
	Messages    int64 `json:"messages"`
	Undecodable int64 `json:"undecodable"`
	OtherSet    int64 `json:"other_set"`  // messages of feature sets other than the one trained on
	Rows        int64 `json:"rows"`       // rows added to the sums
	Unlabelled  int64 `json:"unlabelled"` // rows without a usable label
	Rejected    int64 `json:"rejected"`   // rows with a label or features too large for sums
	// UnseenClass is the number of rows of classes unknown to the feature set. They count as
	// errors.
	UnseenClass int64 `json:"unseen_class"`
	Duplicate   int64 `json:"duplicate"` // rows written by two owners of a partition
}

// Totals are the counts of a process.
type Totals struct {
	Calibrate CalibrateCounts `json:"calibrate"`
	Scoring   wire.Counts     `json:"scoring"`
	Featurize FeaturizeCounts `json:"featurize"`
	Train     TrainCounts     `json:"train"`
	// Seconds is the busy time of each stage, summed over partitions.
	Seconds map[Stage]float64 `json:"seconds"`
}

// Traffic is the number of bytes that a stage read, by outcome of their messages, and the number it
// wrote. Keys, values and headers count.
type Traffic struct {
	UsedBytes        int64
	UndecodableBytes int64
	OtherSetBytes    int64 // of messages of feature sets other than the one trained on

	OutputMessages, OutputBytes int64 // features, or for subsample sampled rows
}

// Add adds counts, a struct of int64 fields, to sum.
func Add[T any](sum *T, counts T) { combine(sum, &counts, 1) }

// Sub returns the increase of counts since before.
func Sub[T any](counts, before T) T {
	combine(&counts, &before, -1)
	return counts
}

func combine(sum, counts any, sign int64) {
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(counts).Elem()
	for i := range to.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + sign*from.Field(i).Int())
	}
}
