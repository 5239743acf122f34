package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
)

// recordOverheadBytes bounds what the broker adds to a value before it checks its limit: batch and
// record framing, key, headers.
const recordOverheadBytes = 1 << 10

// Size is an upper bound on the size of a message under a configuration, or an estimate of the
// memory of a process.
type Size struct {
	What  string `json:"what"`
	Topic string `json:"topic,omitempty"`
	Bytes int64  `json:"bytes"`
	// Limit is the bound on the size and LimitKey the key that sets it; 0 and empty for an
	// informative size.
	Limit    int64  `json:"limit,omitempty"`
	LimitKey string `json:"limit_key,omitempty"`
	// Assumes names the quantities that only calibration finds, and the smallest values, which were
	// assumed for them.
	Assumes string `json:"assumes,omitempty"`

	key     string   // the key to reduce
	factors []string // the other keys on which the size depends
}

// Sizes returns the sizes that [Config.Validate] checks against the limits, for people to see
// before they start.
func (c *Config) Sizes() []Size {
	s := c.Stages
	m0, m := s.Exploration.CandidateCount(), s.Exploration.Features
	k, assumedK := c.outputs()
	width, assumedWidth := c.width()
	partitions := max(s.Topics.Partitions, 1)
	limit := func(size Size) Size {
		size.Bytes += recordOverheadBytes
		size.Limit, size.LimitKey = s.Topics.MaxMessageBytes, "topics.max_message_bytes"
		return size
	}
	const candidates, features = "exploration.candidates", "exploration.features"
	row := Size{What: "row of features", Topic: s.Topics.Features, Bytes: s.FeatureRowBytes(k),
		Limit: s.Featurize.MaxOutputBytes, LimitKey: "featurize.max_output_bytes",
		Assumes: passthroughAssumption(s.Events.Passthrough), key: features}
	if s.Featurize.SetsFrom != "" { // everything else belongs to the other pipeline
		row.Assumes = join(row.Assumes, fmt.Sprintf("exploration.features as here (%d); pipeline %s sets it",
			m, s.SetsOf()))
		return []Size{row}
	}
	columns := []string{"events.label", "events.classes", "events.features"}
	sizes := []Size{
		limit(Size{What: "checkpoint of a partition", Topic: s.Topics.Scores, Bytes: wire.CheckpointBytes(m0, k),
			Assumes: assumedK, key: candidates, factors: append(columns, features)}),
		limit(Size{What: "feature set", Topic: s.Topics.FeatureSets, Bytes: wire.FeatureSetBytes(m, width, k, partitions),
			Assumes: join(assumedK, assumedWidth), key: features, factors: append(columns, "exploration.map")}),
		limit(Size{What: "model", Topic: s.Topics.Models, Bytes: wire.ModelBytes(m, k, partitions),
			Assumes: assumedK, key: features, factors: columns}),
		row,
		c.candidateSize(width, assumedWidth),
	}
	if size, ok := c.sampleSize(width, k, join(assumedK, assumedWidth)); ok {
		sizes = append(sizes, size)
	}
	return sizes
}

// sampleSize bounds the sample and all that a selection computes from it, under a criterion that
// needs rows. With a fixed rate it counts the rows of a full window, and the size is only
// informative: the number of rows becomes known when an exploration is planned.
func (c *Config) sampleSize(width, outputs int, assumed string) (Size, bool) {
	e := c.Stages.Exploration
	invalid := e.Features < 1 || e.CandidateCount() < e.Features || e.Rounds < 1 || e.RefineSteps < 0 ||
		e.Members < 0 || e.Members > e.Features
	if !e.Criterion.NeedsRows() || invalid {
		return Size{}, false
	}
	of := scoring.Candidates{Map: e.Map, Distribution: e.Distribution, Sigma: 1, Dim: width, Count: e.CandidateCount()}
	rows, bytes, learning := e.FittingRows(of, outputs, max(c.Stages.Topics.Partitions, 1))
	auto := e.SampleRate == calibrate.RateAuto
	if !auto {
		rows = int64(float64(e.SampleRate) * float64(e.Window))
		bytes, learning = e.SampleCost(of, outputs, rows)
	}
	size := Size{What: fmt.Sprintf("sample of up to %d rows, and all computed from it",
		rows), Bytes: bytes, Assumes: assumed}
	if learning > 0 {
		size.What += fmt.Sprintf(" in about %v of one core", max(learning.Round(time.Second), time.Second))
	}
	if auto {
		size.Limit = e.SampleMemory
		size.LimitKey = "exploration.sample_memory"
		size.key = "exploration.sample_rows"
		size.factors = []string{"exploration.features", "exploration.candidates", "exploration.rounds",
			"exploration.refine_steps"}
	}
	return size, true
}

// candidateSize returns the memory of the scored candidates.
func (c *Config) candidateSize(width int, assumedWidth string) Size {
	e, partitions := c.Stages.Exploration, c.Stages.Topics.Partitions
	candidates := scoring.Candidates{Map: e.Map, Dim: width, Count: max(e.CandidateCount(), 1)}
	return Size{What: fmt.Sprintf("pool of %d candidates in memory", candidates.Count),
		Bytes: scoring.BankBytes(candidates,
			max(partitions, 0)), Limit: e.CandidateMemory, LimitKey: "exploration.candidate_memory",
		Assumes: assumedWidth, key: "exploration.candidates", factors: []string{"exploration.features", "topics.partitions"}}
}

// outputs returns K as far as it is known, and the assumption made about it.
func (c *Config) outputs() (k int, assumed string) {
	events := c.Stages.Events
	switch classes := len(events.Classes); {
	case classes > 2:
		return classes, ""
	case classes == 2:
		return 1, ""
	case len(events.Label) > 1:
		return len(events.Label), ""
	case events.Task == "regression":
		return 1, ""
	default:
		return 1, "one output (calibration finds the classes)"
	}
}

// assumedClasses names the number of classes for which memory is counted, if it is open.
func (c *Config) assumedClasses() string {
	if _, open := c.outputs(); open == "" {
		return ""
	}
	if most := c.Stages.MostOutputs(); most > 1 {
		return fmt.Sprintf("up to %d classes (events.max_classes, if a checkpoint of them fits)", most)
	}
	return "two classes (events.max_classes)"
}

// width returns the length of an omega as far as it is known, and the assumption made about it.
func (c *Config) width() (width int, assumed string) {
	if c.Stages.Exploration.Map.Coordinates() {
		return 1, ""
	}
	columns := max(len(c.Stages.Events.Features), 1)
	return columns, fmt.Sprintf("%d encoded dimensions (calibration finds the number)", columns)
}

func passthroughAssumption(passthrough []string) string {
	if len(passthrough) == 0 {
		return ""
	}
	return "empty passthrough columns"
}

// sizes refuses sizes that cannot fit.
func (k *checker) sizes() {
	for _, size := range k.config.Sizes() {
		if size.Limit == 0 {
			continue
		}
		bytes, limit := bytesize.Compared(size.Bytes, size.Limit)
		bound := fmt.Sprintf("a %s takes %s, %s is %s", size.What, bytes, size.LimitKey, limit)
		if size.Assumes != "" {
			bound += "; assuming " + size.Assumes
		}
		k.rule(size.Bytes <= size.Limit, size.key, bound, append(size.factors, size.LimitKey)...)
	}
}

func join(texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
