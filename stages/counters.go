package stages

import (
	"sync"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Names of the stages, as in flags, dead letters and logs.
const (
	StageCalibrate = "calibrate"
	StageSubsample = "subsample"
	StageSelect    = "select"
	StageFeaturize = "featurize"
	StageTrain     = "train"
)

// Stages lists the stages in the order of the flow.
func Stages() []string {
	return []string{StageCalibrate, StageSubsample, StageSelect, StageFeaturize, StageTrain}
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

// Add adds other to c.
func (c *FeaturizeCounts) Add(other FeaturizeCounts) {
	c.Messages += other.Messages
	c.Undecodable += other.Undecodable
	c.Rows += other.Rows
	c.Featurized += other.Featurized
	c.Rejected += other.Rejected
	c.Imputed += other.Imputed
	c.UnseenCategory += other.UnseenCategory
	c.Clipped += other.Clipped
	c.UnseenClass += other.UnseenClass
	c.MissingOffsets += other.MissingOffsets
	c.Predicted += other.Predicted
	c.NoModel += other.NoModel
	c.OtherSetModel += other.OtherSetModel
	c.UnusableModel += other.UnusableModel
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

// Add adds other to c.
func (c *TrainCounts) Add(other TrainCounts) {
	c.Messages += other.Messages
	c.Undecodable += other.Undecodable
	c.OtherSet += other.OtherSet
	c.Rows += other.Rows
	c.Unlabelled += other.Unlabelled
	c.Duplicate += other.Duplicate
}

// CalibrateCounts says what calibration read. Messages that do not decode are passed over: subsample makes them dead
// letters.
type CalibrateCounts struct {
	Messages    int64 `json:"messages"`
	Undecodable int64 `json:"undecodable"`
	Rows        int64 `json:"rows"` // of the others; learned from as far as they are wanted
}

// Totals are the counters of a process.
type Totals struct {
	Calibrate CalibrateCounts `json:"calibrate"`
	Scoring   wire.Counts     `json:"scoring"`
	Featurize FeaturizeCounts `json:"featurize"`
	Train     TrainCounts     `json:"train"`
	// Seconds is the time that each stage worked, summed over partitions.
	Seconds map[string]float64 `json:"seconds"`
}

// Counters sums what the runners of a process counted, and knows where they stand. Safe for use from several goroutines.
type Counters struct {
	mu     sync.Mutex
	totals Totals
	activity
}

// NewCounters returns counters at zero.
func NewCounters() *Counters {
	return &Counters{totals: Totals{Seconds: map[string]float64{}}, activity: newActivity()}
}

// Totals returns the present sums.
func (c *Counters) Totals() Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	totals := c.totals
	totals.Seconds = make(map[string]float64, len(c.totals.Seconds))
	for stage, seconds := range c.totals.Seconds {
		totals.Seconds[stage] = seconds
	}
	return totals
}

func (c *Counters) addCalibrate(counts CalibrateCounts, traffic Traffic) {
	c.addTraffic(StageCalibrate, traffic)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Calibrate.Messages += counts.Messages
	c.totals.Calibrate.Undecodable += counts.Undecodable
	c.totals.Calibrate.Rows += counts.Rows
}

// addScoring adds what counts grew by since booked.
func (c *Counters) addScoring(counts, booked wire.Counts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts.Sub(booked)
	c.totals.Scoring.Add(counts)
}

func (c *Counters) addFeaturize(counts FeaturizeCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Featurize.Add(counts)
}

// addTrain adds what counts grew by since before.
func (c *Counters) addTrain(counts, before TrainCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Train.Add(TrainCounts{
		Messages: counts.Messages - before.Messages, Undecodable: counts.Undecodable - before.Undecodable,
		OtherSet: counts.OtherSet - before.OtherSet, Rows: counts.Rows - before.Rows,
		Unlabelled: counts.Unlabelled - before.Unlabelled, Duplicate: counts.Duplicate - before.Duplicate,
	})
}

// worked adds the time since start to a stage; for use with defer.
func (c *Counters) worked(stage string, start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Seconds[stage] += time.Since(start).Seconds()
}
