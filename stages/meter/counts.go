package meter

import (
	"reflect"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// CalibrateCounts says what calibration read. Messages that do not decode are skipped: subsample makes them dead
// letters.
type CalibrateCounts struct {
	Messages    int64 `json:"messages"`
	Undecodable int64 `json:"undecodable"`
	Rows        int64 `json:"rows"` // of the others; learned from as far as they are wanted
}

// FeaturizeCounts says what featurizing made of messages and rows: Rows = Featurized + Rejected.
type FeaturizeCounts struct {
	Messages       int64 `json:"messages"`
	Undecodable    int64 `json:"undecodable"`
	Rows           int64 `json:"rows"`
	Featurized     int64 `json:"featurized"`
	Rejected       int64 `json:"rejected"`
	Imputed        int64 `json:"imputed"`
	UnseenCategory int64 `json:"unseen_category"`
	Clipped        int64 `json:"clipped"`
	UnseenClass    int64 `json:"unseen_class"`
	// MissingOffsets counts offsets that retention removed before they were read.
	MissingOffsets int64 `json:"missing_offsets"`
	// Of the rows featurized, with predictions: those that have one, and those that have none as no model is in use, as that is
	// of another feature set, or as it cannot be used.
	Predicted     int64 `json:"predicted,omitempty"`
	NoModel       int64 `json:"no_model,omitempty"`
	OtherSetModel int64 `json:"other_set_model,omitempty"`
	UnusableModel int64 `json:"unusable_model,omitempty"`
}

// TrainCounts says what training made of the messages of the features topic.
type TrainCounts struct {
	Messages    int64 `json:"messages"`
	Undecodable int64 `json:"undecodable"`
	OtherSet    int64 `json:"other_set"`  // messages of feature sets other than the one trained on
	Rows        int64 `json:"rows"`       // rows added to the sums
	Unlabelled  int64 `json:"unlabelled"` // rows without a usable label
	Duplicate   int64 `json:"duplicate"`  // rows that two owners of a partition both wrote
}

// Totals are the counts of a process.
type Totals struct {
	Calibrate CalibrateCounts `json:"calibrate"`
	Scoring   wire.Counts     `json:"scoring"`
	Featurize FeaturizeCounts `json:"featurize"`
	Train     TrainCounts     `json:"train"`
	// Seconds is the time that each stage worked, summed over partitions.
	Seconds map[string]float64 `json:"seconds"`
}

// Traffic is how many bytes a stage read in messages, by what became of these, and what it wrote. Bytes are those of keys,
// values and headers.
type Traffic struct {
	UsedBytes        int64
	UndecodableBytes int64
	OtherSetBytes    int64 // of messages of feature sets other than the one trained on

	OutputMessages, OutputBytes int64 // of features, of subsample those of sampled rows
}

// Add adds counts, a struct of int64 fields, to a sum.
func Add[T any](sum *T, counts T) { combine(sum, &counts, 1) }

// Less returns counts without those of before: what they grew by.
func Less[T any](counts, before T) T {
	combine(&counts, &before, -1)
	return counts
}

func combine(sum, counts any, sign int64) {
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(counts).Elem()
	for i := range to.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + sign*from.Field(i).Int())
	}
}
