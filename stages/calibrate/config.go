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

// Config says what an exploration draws, scores and keeps, and when one starts.
type Config struct {
	Map          scoring.Map          `key:"map" doc:"feature map"`
	Distribution scoring.Distribution `key:"distribution" doc:"sampling distribution (the cosine map alone takes others than gaussian)"`
	Sigma        float64              `key:"sigma" doc:"bandwidth; 0 = mean distance to the 50th nearest neighbour among calibration rows"`
	Seed         uint64               `key:"seed" doc:"seed of candidates and of row sampling"`
	Candidates   int                  `key:"candidates" doc:"M0, number of candidates; 0 = 10 x features, or 20 x features under criterion adaptive, which draws that many in each round"`
	Features     int                  `key:"features" doc:"M, number of features kept"`
	Criterion    scoring.Criterion    `key:"criterion" doc:"how features are chosen (unless set, residual where adaptive does not go with map and distribution)"`
	Rounds       int                  `key:"rounds" json:",omitempty" doc:"R, rounds of selection by residual, under the criteria residual and adaptive; ignored by the others"`
	RefineSteps  int                  `key:"refine_steps" json:",omitempty" doc:"most gradient steps with which criterion adaptive moves the chosen frequencies, before and after a last round; 0 = none"`

	SampleMemory    int64         `key:"sample_memory" json:",omitempty" unit:"bytes" doc:"memory for the sampled rows and what the selection computes from them, under criteria that need rows; under sample_rate: auto fewer rows are sampled if they do not fit, an exploration that needs more is refused"`
	LearningTime    time.Duration `key:"learning_time" json:",omitempty" unit:"duration" doc:"processor time, by estimate, that criterion adaptive may take on one core with AVX2; under sample_rate: auto fewer rows are sampled if they would take longer"`
	CandidateMemory int64         `key:"candidate_memory" json:",omitempty" unit:"bytes" doc:"memory for the candidates that an exploration scores; an exploration that needs more is refused"`

	From        wire.From `key:"from" json:",omitempty" doc:"part of the log that an exploration reads: recent = the newest rows, as many as window says; earliest = all; next = what came after the last exploration"`
	Window      int64     `key:"window" json:",omitempty" unit:"rows" doc:"with from: recent, about how many of the newest rows an exploration reads, in proportion to what the partitions hold"`
	WindowBytes int64     `key:"window_bytes" json:",omitempty" unit:"bytes" doc:"with from: recent, about how many bytes these rows may have"`
	SampleRate  Rate      `key:"sample_rate" doc:"share of rows that is scored, in (0, 1], or auto: sample_rows / labelled rows in the ranges, at most 1"`
	SampleRows  int64     `key:"sample_rows" unit:"rows" doc:"N0, how many scored rows sample_rate: auto aims at, if sample_memory and learning_time allow them"`
	MinRows     int64     `key:"min_rows" json:",omitempty" unit:"rows" doc:"labelled rows the log must hold before an exploration is planned"`

	CalibrationRows int64         `key:"calibration_rows" unit:"rows per partition" doc:"rows from which encoder and bandwidth are learned"`
	Kernel          Kernel        `key:"kernel" json:",omitempty" doc:"arithmetic of the processes that plan, score and select: auto = the fastest that the processor has; plain = plain Go, which all kinds of processors share and which takes about twenty times as long"`
	Every           time.Duration `key:"every" json:",omitempty" unit:"duration" doc:"start a new exploration this long after the last plan; 0 = never by time"`
	EveryOffsets    int64         `key:"every_offsets" json:",omitempty" unit:"offsets" doc:"start a new exploration when events have advanced this far beyond where the last one stopped reading; 0 = never by offsets"`
}

// Default returns the configuration of an empty file. The default map and distribution are the zero values of
// their types.
func Default() Config {
	return Config{
		Map: scoring.MapCosine, Distribution: scoring.Gaussian, Seed: 1,
		Features: adaptive.DefaultFeatures, Criterion: scoring.Adaptive, Rounds: scoring.DefaultRounds, RefineSteps: adaptive.DefaultRefineSteps,
		SampleMemory: 512 << 20, LearningTime: 30 * time.Second, CandidateMemory: 512 << 20,
		From: wire.FromRecent, Window: 1_000_000, WindowBytes: 1 << 30, SampleRows: adaptive.DefaultRows, MinRows: 2000,
		CalibrationRows: 2000, Kernel: KernelAuto,
	}
}

// Kernel says which arithmetic a process uses.
type Kernel string

// The kernels to choose from.
const (
	KernelAuto  Kernel = "auto"  // the default of [scoring.Arithmetic]
	KernelPlain Kernel = "plain" // see [scoring.LimitToPlain]
)

// Rate is a sample rate in (0, 1]; 0 is written as auto.
type Rate float64

// RateAuto derives the rate from the number of labelled rows.
const RateAuto Rate = 0

// MarshalText writes the rate, or auto.
func (r Rate) MarshalText() ([]byte, error) {
	if r == RateAuto {
		return []byte("auto"), nil
	}
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
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

// String is the text of the rate.
func (r Rate) String() string {
	text, _ := r.MarshalText()
	return string(text)
}

// ActiveRounds returns the configured rounds under a criterion that chooses by residual, otherwise 0.
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

// refineRounds is how many rounds a refinement has.
func (c Config) refineRounds() int {
	if c.ActiveRefineSteps() == 0 {
		return 0
	}
	return adaptive.DefaultRefineRounds
}

// CandidateCount is M0: the configured number, or a multiple of M.
func (c Config) CandidateCount() int {
	if c.Candidates > 0 {
		return c.Candidates
	}
	return c.Criterion.CandidatesPerFeature() * c.Features
}

// SettleCriterion changes the default criterion to residual where adaptive does not go with the candidates.
func (c *Config) SettleCriterion() {
	if c.CheckCandidates() != nil {
		c.Criterion = scoring.Residual
	}
}

// CheckCandidates reports candidates that the criterion cannot choose from. Its messages name the keys.
func (c Config) CheckCandidates() error {
	return c.Criterion.Check(scoring.Candidates{Map: c.Map, Distribution: c.Distribution})
}

// Hash identifies what a configuration asks of explorations: a pipeline whose newest exploration has another hash
// starts a new one. When an exploration starts, which part of the log it reads, its memory and its arithmetic are not
// included.
func Hash(c Config, e events.Config, topic string) string {
	c.Candidates, c.Rounds, c.RefineSteps = c.CandidateCount(), c.ActiveRounds(), c.ActiveRefineSteps()
	c.SampleMemory, c.LearningTime, c.CandidateMemory, c.From, c.Window, c.WindowBytes, c.MinRows = 0, 0, 0, "", 0, 0, 0
	c.Every, c.EveryOffsets, c.Kernel = 0, 0, ""
	if e.Format == formats.Auto {
		e.Format = ""
	}
	e.ClassMinRows = 0
	if e.LabelTransform == encoder.TransformNone {
		e.LabelTransform = ""
	}
	document, err := json.Marshal(struct {
		Events      events.Config
		Exploration Config
		Topic       string
	}{e, c, topic})
	if err != nil {
		panic(fmt.Sprintf("calibrate: settings do not marshal: %v", err)) // package config has checked the numbers
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}
