package calibrate

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// columnsThatFit returns the columns, or nil if their report would make the plan or the feature set
// too large for its topic.
func columnsThatFit(spec *wire.Spec, columns []encoder.ColumnUse, limit int64) []encoder.ColumnUse {
	set := wire.FeatureSetBytes(spec.Features, spec.Encoder.Dim, spec.Encoder.Outputs(), len(spec.Partitions))
	plan := wire.SpecBytes(len(spec.Partitions), spec.Encoder.Dim)
	if limit > 0 && max(set, plan)+wire.ExclusionsBytes(spec.Excluded)+wire.ColumnsBytes(columns) > limit {
		return nil
	}
	return columns
}

// quota bounds the scored rows of a partition, given its expected share, so that a log that differs
// from the planner's counts cannot take unbounded memory. Rows are sampled by hash, so their number
// varies, relatively more if it is small.
func quota(share int64) int64 {
	const room = 64
	return share + share/4 + room
}

func setQuotas(spec *wire.Spec) {
	for i := range spec.Partitions {
		spec.Partitions[i].Quota = quota(int64(spec.SampleRate * float64(spec.Partitions[i].LabelledRows)))
	}
}

// fewestRows rows are sampled regardless of memory and time: an exploration of fewer rows is
// worthless.
const fewestRows = 1000

// FittingRows returns N0 for sample_rate auto, and the memory and time that N0 rows in the given
// number of partitions take. N0 is sample_rows, or fewer if memory and time require it, but at
// least the minimum of an exploration.
func (c Config) FittingRows(
	of scoring.Candidates,
	outputs, partitions int,
) (rows, memory int64, learning time.Duration) {
	cost := func(rows int64) (memory int64, learning time.Duration) {
		memory, _ = c.SampleCost(of, outputs, quota(rows)+int64(partitions-1)*quota(0))
		_, learning = c.SampleCost(of, outputs, rows)
		return memory, learning
	}
	least := min(c.SampleRows, max(c.MinRows, fewestRows))
	more := sort.Search(int(c.SampleRows-least), func(i int) bool {
		memory, learning := cost(least + int64(i) + 1)
		return memory > c.SampleMemory || learning > c.LearningTime
	})
	rows = least + int64(more)
	memory, learning = cost(rows)
	return rows, memory, learning
}

// SampleCost returns the maximum memory of a sample of rows and of the selection from it, and the
// estimated CPU time of learning from it. Both are 0 for criteria that need only sums. While rows
// are read they exist three times: as messages, by partition, and in the sample.
func (c Config) SampleCost(of scoring.Candidates, outputs int, rows int64) (memory int64, learning time.Duration) {
	if !c.Criterion.NeedsRows() {
		return 0, 0
	}
	o := adaptive.Options{
		Features:     c.Features,
		Rounds:       c.Rounds,
		Members:      c.ActiveMembers(),
		RefineSteps:  c.ActiveRefineSteps(),
		RefineRounds: c.refineRounds(),
		ChooseOnly:   !c.Criterion.Learns(),
	}
	memory = 2*rows*wire.SampleRowBytes(of.Dim, outputs) + adaptive.Bytes(of, int(rows), outputs, o)
	return memory, adaptive.Time(of, int(rows), outputs, o)
}

// sampledRows returns the maximum number of rows that an exploration samples.
func sampledRows(spec *wire.Spec) (rows int64) {
	for _, part := range spec.Partitions {
		rows += min(part.Quota, part.LabelledRows)
	}
	return rows
}

// checkFits refuses a plan whose messages exceed the broker's limit or whose sample would take too
// much memory. The numbers of dimensions, outputs and rows are known only at this point.
func checkFits(spec *wire.Spec, s Settings, memory int64) error {
	outputs, limit := spec.Encoder.Outputs(), s.MaxMessageBytes
	width := spec.Candidates.Map.Width(spec.Encoder.Dim)
	var faults []error
	excluded := wire.ExclusionsBytes(spec.Excluded)
	if size := wire.SpecBytes(len(spec.Partitions), spec.Encoder.Dim) + excluded; limit > 0 && size > limit {
		faults = append(faults, fmt.Errorf("a plan of %d partitions and %d dimensions has up to %v",
			len(spec.Partitions), spec.Encoder.Dim, overMessage{size, limit}))
	}
	if n := len(spec.Partitions); n > wire.MaxPartitions {
		faults = append(
			faults,
			fmt.Errorf("events has %d partitions; an exploration reads at most %d", n, wire.MaxPartitions),
		)
	}
	if size := wire.CheckpointBytes(spec.Candidates.Count, outputs); limit > 0 && size > limit {
		faults = append(faults, fmt.Errorf("a checkpoint of %d candidates and %d outputs has up to %v",
			spec.Candidates.Count, outputs, overMessage{size, limit}))
	}
	if size := wire.FeatureSetBytes(spec.Features, width, outputs, len(spec.Partitions)) + excluded; limit > 0 &&
		size > limit {
		faults = append(faults, fmt.Errorf("a feature set of %d features in %d dimensions has up to %v",
			spec.Features, width, overMessage{size, limit}))
	}
	if size := wire.SampleRowBytes(spec.Encoder.Dim, outputs); limit > 0 && size > limit/2 && spec.Criterion.NeedsRows() {
		faults = append(faults, fmt.Errorf("a sampled row of %d dimensions has %v: fewer than two rows fit",
			spec.Encoder.Dim, overMessage{size, limit}))
	}
	if size, limit := scoring.BankBytes(
		spec.Candidates, len(spec.Partitions),
	), s.Exploration.CandidateMemory; size > limit {
		needed, allowed := bytesize.Compared(size, limit)
		faults = append(faults, fmt.Errorf(
			"%d candidates of %d dimensions, plus the waiting rows of %d partitions, "+
				"take %s, over exploration.candidate_memory (%s): "+
				"ask for fewer candidates or more memory",
			spec.Candidates.Count, spec.Encoder.Dim, len(spec.Partitions), needed, allowed))
	}
	if memory > s.Exploration.SampleMemory {
		needed, allowed := bytesize.Compared(memory, s.Exploration.SampleMemory)
		faults = append(faults, fmt.Errorf(
			"up to %d sampled rows of %d dimensions, and the results computed from them, "+
				"take up to %s, over exploration.sample_memory (%s): "+
				"ask for fewer rows, candidates or features, for more memory, or for a criterion that takes less",
			sampledRows(spec), spec.Encoder.Dim, needed, allowed))
	}
	return errors.Join(faults...)
}

// overMessage is a size that exceeds the largest message of the topics.
type overMessage struct{ size, limit int64 }

// String implements [fmt.Stringer].
func (o overMessage) String() string {
	size, limit := bytesize.Compared(o.size, o.limit)
	return fmt.Sprintf("%s but topics.max_message_bytes is %s", size, limit)
}
