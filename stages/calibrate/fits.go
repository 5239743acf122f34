package calibrate

import (
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// columnsThatFit returns the columns, or none if the report on them would make a feature set too large for its topic.
func columnsThatFit(spec *wire.Spec, columns []encoder.ColumnUse, limit int64) []encoder.ColumnUse {
	set := wire.FeatureSetBytes(spec.Features, spec.Encoder.Dim, spec.Encoder.Outputs())
	if limit > 0 && set+wire.ColumnsBytes(columns) > limit {
		return nil
	}
	return columns
}

// setQuotas bounds the scored rows of each partition by twice its share, so that a log that differs from what the
// planner counted cannot take unbounded memory. Small shares vary more, so they get extra room.
func setQuotas(spec *wire.Spec) {
	const room = 64
	for i := range spec.Partitions {
		share := int64(spec.SampleRate * float64(spec.Partitions[i].LabelledRows))
		spec.Partitions[i].Quota = 2*share + room
	}
}

// sampledRows bounds the number of rows that an exploration samples.
func sampledRows(spec *wire.Spec) (rows int64) {
	for _, part := range spec.Partitions {
		rows += min(part.Quota, part.LabelledRows)
	}
	return rows
}

// SampleMemory bounds what a sample of rows, and a selection from it, take; 0 for criteria that need sums only. Rows
// exist three times while they are read: as messages, by partition, and in the sample.
func SampleMemory(c scoring.Candidates, outputs int, rows int64, o Choice) int64 {
	if !o.Criterion.NeedsRows() {
		return 0
	}
	read := 2 * rows * wire.SampleRowBytes(c.Dim, outputs)
	if o.Criterion.Learns() {
		return read + adaptive.Bytes(c, int(rows), outputs, adaptive.Options{Features: o.Features, Rounds: o.Rounds, RefineSteps: o.RefineSteps, RefineRounds: adaptive.DefaultRefineRounds})
	}
	return read + scoring.SelectBytes(c, int(rows), outputs, scoring.SelectOptions{
		Criterion: o.Criterion, Features: o.Features, Rounds: o.Rounds,
	})
}

// Choice says how features are chosen from a sample.
type Choice struct {
	Criterion                     scoring.Criterion
	Features, Rounds, RefineSteps int
}

func sampleMemory(spec *wire.Spec) int64 {
	return SampleMemory(spec.Candidates, spec.Encoder.Outputs(), sampledRows(spec), Choice{
		Criterion: spec.Criterion, Features: spec.Features, Rounds: spec.Rounds, RefineSteps: spec.RefineSteps,
	})
}

// checkFits refuses a plan whose messages the broker would not take, or whose sample would take too much memory.
// Dimensions, outputs and rows are only known at this point.
func checkFits(spec *wire.Spec, s Settings, memory int64) error {
	outputs, limit := spec.Encoder.Outputs(), s.MaxMessageBytes
	width := spec.Candidates.Map.Width(spec.Encoder.Dim)
	var faults []error
	if size := wire.CheckpointBytes(spec.Candidates.Count, outputs); limit > 0 && size > limit {
		faults = append(faults, fmt.Errorf("a checkpoint of %d candidates and %d outputs has up to %v",
			spec.Candidates.Count, outputs, overMessage{size, limit}))
	}
	if size := wire.FeatureSetBytes(spec.Features, width, outputs); limit > 0 && size > limit {
		faults = append(faults, fmt.Errorf("a feature set of %d features in %d dimensions has up to %v",
			spec.Features, width, overMessage{size, limit}))
	}
	if size := wire.SampleRowBytes(spec.Encoder.Dim, outputs); limit > 0 && size > limit/2 && spec.Criterion.NeedsRows() {
		faults = append(faults, fmt.Errorf("a sampled row of %d dimensions has %v: less than two of them",
			spec.Encoder.Dim, overMessage{size, limit}))
	}
	if memory > s.Exploration.SampleMemory {
		needed, allowed := bytesize.Compared(memory, s.Exploration.SampleMemory)
		faults = append(faults, fmt.Errorf("up to %d sampled rows of %d dimensions, and what is computed from them, take up to %s, exploration.sample_memory is %s: "+
			"ask for fewer rows, candidates or features, for more memory, or for a criterion that takes less", sampledRows(spec), spec.Encoder.Dim, needed, allowed))
	}
	return errors.Join(faults...)
}

// overMessage is a size compared with the largest message that the topics take.
type overMessage struct{ size, limit int64 }

// String implements [fmt.Stringer].
func (o overMessage) String() string {
	size, limit := bytesize.Compared(o.size, o.limit)
	return fmt.Sprintf("%s, topics.max_message_bytes is %s", size, limit)
}
