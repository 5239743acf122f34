package calibrate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/events"
)

// Config configures explorations.
type Config struct {
	Method     `key:",squash"`
	Conditions `key:",squash"`
}

// Method holds the settings that determine the result of an exploration. [Hash] covers all of them:
// a pipeline whose newest exploration has another hash starts a new exploration. A new field
// preserves the hash of existing configurations if its default is zero and its tag has omitempty.
type Method struct {
	Map             scoring.Map          `key:"map" doc:"feature map"`
	Distribution    scoring.Distribution `key:"distribution" doc:"sampling distribution (only the cosine map takes others than gaussian)"`
	Sigma           float64              `key:"sigma" range:"1e-30,1e+30" zero:"the nearest-neighbour rule" doc:"bandwidth; 0 = mean distance to the 50th nearest neighbour among calibration rows"`
	Seed            uint64               `key:"seed" doc:"seed of candidates and of row sampling"`
	Candidates      int                  `key:"candidates" range:"1,100000000" zero:"ten times exploration.features" doc:"M0, number of candidates; 0 = 10 x features; under criterion adaptive, in each round"`
	Features        int                  `key:"features" range:"1,1000000" doc:"M, number of features kept"`
	Criterion       scoring.Criterion    `key:"criterion" doc:"how features are chosen (default: residual where adaptive does not support map and distribution)"`
	Rounds          int                  `key:"rounds" json:",omitempty" range:"1,10000" doc:"R, rounds of selection by residual, under the criteria residual and adaptive; ignored by the others"`
	RefineSteps     int                  `key:"refine_steps" json:",omitempty" range:"0,1000" doc:"maximum number of gradient steps with which criterion adaptive moves the chosen frequencies, before and after a last round; 0 = none"`
	Members         int                  `key:"members" json:",omitempty" range:"1,16" zero:"one for every 250 features, at most 4" doc:"number of sets that criterion adaptive learns independently, each of its share of features and candidates; 0 = one for every 250 features, at most 4. They are published as one set; a model is the mean of a model on each, and varies less from one exploration to the next. Ignored by other criteria"`
	SampleRate      Rate                 `key:"sample_rate" doc:"share of rows that is scored, in (0, 1], or auto: sample_rows / labelled rows in the ranges, at most 1"`
	SampleRows      int64                `key:"sample_rows" unit:"rows" range:"1,1000000000000" doc:"N0, target number of scored rows under sample_rate: auto; fewer are sampled if sample_memory or learning_time requires it"`
	CalibrationRows int64                `key:"calibration_rows" unit:"rows per partition" range:"2,1000000000" doc:"rows from which encoder and bandwidth are learned, sampled from all that an exploration reads"`
}

// Conditions holds the settings whose changes start no exploration: when an exploration starts,
// which part of the log it reads, and how much memory and time it may use.
type Conditions struct {
	From            wire.From     `key:"from" doc:"part of the log that an exploration reads: recent = the newest rows, see window; earliest = all; next = rows after the last exploration"`
	Window          int64         `key:"window" unit:"rows" range:"1,1000000000000" doc:"with from: recent, approximate number of the newest rows that an exploration reads, in proportion to the rows of each partition"`
	WindowBytes     int64         `key:"window_bytes" unit:"bytes" range:"1,1PiB" doc:"with from: recent, approximate maximum size of these rows"`
	MinRows         int64         `key:"min_rows" unit:"rows" range:"1,1000000000000" doc:"labelled rows the log must hold before an exploration is planned"`
	Every           time.Duration `key:"every" unit:"duration" range:"1ms,876000h" zero:"never by time" doc:"start a new exploration this long after the last plan; 0 = never by time"`
	EveryOffsets    int64         `key:"every_offsets" unit:"offsets" range:"1,1000000000000000" zero:"never by offsets" doc:"start a new exploration when events have advanced this far beyond the end of the last one's ranges; 0 = never by offsets"`
	SampleMemory    int64         `key:"sample_memory" unit:"bytes" range:"1MiB,1PiB" doc:"memory for the sampled rows and the selection's work on them, under criteria that need rows; with sample_rate set to auto, fewer rows are sampled if they do not fit; an exploration that needs more is refused"`
	LearningTime    time.Duration `key:"learning_time" unit:"duration" range:"1ms,8760h" doc:"estimated CPU budget of criterion adaptive on one core with AVX2; under sample_rate: auto fewer rows are sampled if they would exceed it"`
	CandidateMemory int64         `key:"candidate_memory" unit:"bytes" range:"1MiB,1PiB" doc:"memory for the candidates that an exploration scores; an exploration that needs more is refused"`
	Kernel          Kernel        `key:"kernel" doc:"arithmetic of the processes that plan, score and select: auto = the fastest that the processor supports; plain = plain Go, which is the same on all processors and takes about twenty times as long"`
}

// Default returns the default configuration. The default map and distribution are the zero values
// of their types.
func Default() Config {
	return Config{
		Method: Method{
			Map:             scoring.MapCosine,
			Distribution:    scoring.Gaussian,
			Seed:            1,
			Features:        adaptive.DefaultFeatures,
			Criterion:       scoring.Adaptive,
			Rounds:          scoring.DefaultRounds,
			RefineSteps:     adaptive.DefaultRefineSteps,
			SampleRows:      adaptive.DefaultRows,
			CalibrationRows: encoder.DefaultCalibrationRows,
		},
		Conditions: Conditions{
			From:            wire.FromRecent,
			Window:          1_000_000,
			WindowBytes:     1 << 30,
			MinRows:         2000,
			SampleMemory:    512 << 20,
			LearningTime:    30 * time.Second,
			CandidateMemory: 512 << 20,
			Kernel:          KernelAuto,
		},
	}
}

// Kernel names the arithmetic of a process.
type Kernel string

// Kernels.
const (
	KernelAuto  Kernel = "auto"  // the default of [scoring.Arithmetic]
	KernelPlain Kernel = "plain" // see [scoring.LimitToPlain]
)

// Rate is a sample rate in (0, 1]; 0 is written as auto.
type Rate float64

// RateAuto stands for a rate that is derived from the number of labelled rows.
const RateAuto Rate = 0

// MarshalText writes the rate, or auto.
func (r Rate) MarshalText() ([]byte, error) {
	if r == RateAuto {
		return []byte("auto"), nil
	}
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText parses the output of MarshalText.
func (r *Rate) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*r = RateAuto
		return nil
	}
	rate, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(rate > 0 && rate <= 1) {
		return fmt.Errorf("%q is neither auto nor a number in (0, 1]", text)
	}
	*r = Rate(rate)
	return nil
}

// String returns the rate as text.
func (r Rate) String() string {
	text, _ := r.MarshalText()
	return string(text)
}

// ActiveRounds returns the configured rounds under criteria that choose by residual, otherwise 0.
func (c Config) ActiveRounds() int {
	if !c.Criterion.NeedsRows() {
		return 0
	}
	return c.Rounds
}

// ActiveRefineSteps returns the configured steps under the adaptive criterion, otherwise 0.
func (c Config) ActiveRefineSteps() int {
	if !c.Criterion.Learns() {
		return 0
	}
	return c.RefineSteps
}

// ActiveMembers returns the number of members under the adaptive criterion, otherwise 0.
func (c Config) ActiveMembers() int {
	switch {
	case !c.Criterion.Learns():
		return 0
	case c.Members == 0:
		return adaptive.DefaultMembers(c.Features)
	}
	return c.Members
}

// refineRounds returns the number of rounds of a refinement.
func (c Config) refineRounds() int {
	if c.ActiveRefineSteps() == 0 {
		return 0
	}
	return adaptive.DefaultRefineRounds
}

// CandidateCount returns M0: the configured number, or a multiple of M.
func (c Config) CandidateCount() int {
	if c.Candidates > 0 {
		return c.Candidates
	}
	return scoring.CandidatesPerFeature * c.Features
}

// SettleCriterion replaces the default criterion by residual if adaptive does not support the
// candidates.
func (c *Config) SettleCriterion() {
	if c.CheckCandidates() != nil {
		c.Criterion = scoring.Residual
	}
}

// CheckCandidates returns an error that names the keys if the criterion does not support the
// candidates.
func (c Config) CheckCandidates() error {
	return c.Criterion.Check(scoring.Candidates{Map: c.Map, Distribution: c.Distribution})
}

// Hash identifies the settings that a pipeline's explorations must match: the method, the roles of
// the columns of events, and the events topic. Equivalent settings have the same hash.
func Hash(c Config, e events.Config, topic string) string {
	method, columns := c.Method, e.Columns
	method.Candidates = c.CandidateCount()
	method.Rounds = c.ActiveRounds()
	method.RefineSteps = c.ActiveRefineSteps()
	method.Members = c.ActiveMembers()
	if columns.Format == formats.Auto {
		columns.Format = ""
	}
	if columns.LabelTransform == encoder.TransformNone {
		columns.LabelTransform = ""
	}
	document, err := json.Marshal(struct {
		Events      events.Columns
		Exploration Method
		Topic       string
	}{columns, method, topic})
	if err != nil {
		panic(fmt.Sprintf("calibrate: settings do not marshal: %v", err)) // package config has checked the numbers
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}
