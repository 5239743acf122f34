package stages

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// pass is what one pass over the rows of a partition sums: scores, which can be continued from a checkpoint, or a Gram.
type pass struct {
	scores interface {
		Add(x []float32, rows int, t scoring.Targets)
		Sums() *scoring.Sums
	}
	gram     *scoring.ResidualGram
	products *training.Products // of a Gram that was closed before
}

// newPass starts the pass that spec asks for, or continues that of a checkpoint, whose sums it owns from now on.
func newPass(spec *wire.Spec, bank *scoring.Bank, from *wire.Checkpoint) pass {
	plan := spec.ResidualPlan()
	if plan != nil && plan.Pool != nil {
		p := pass{gram: plan.NewGram(bank)}
		if from != nil {
			p.products = from.Products
		}
		return p
	}
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	if from != nil {
		sums = from.Sums
	}
	if plan != nil {
		return pass{scores: plan.NewScores(bank, sums)}
	}
	return pass{scores: scoring.NewAccumulator(bank, sums)}
}

// Add adds rows as [scoring.Accumulator.Add] does.
func (p *pass) Add(x []float32, rows int, t scoring.Targets) {
	if p.gram != nil {
		p.gram.Add(x, rows, t)
		return
	}
	p.scores.Add(x, rows, t)
}

// copySums returns a copy of the one or the other sums.
func (p *pass) copySums() (*scoring.Sums, *training.Products) {
	switch {
	case p.gram == nil:
		return p.scores.Sums().Clone(), nil
	case p.products != nil:
		return nil, p.products
	}
	return nil, p.gram.Products()
}

// EndPass draws the conclusion from a pass whose partitions are closed: the feature set or, under the residual criterion,
// the spec of the next pass over the same rows. Both are a function of the spec and the checkpoints, but for the set's time.
func EndPass(spec *wire.Spec, checkpoints []*wire.Checkpoint, now time.Time) (set *wire.FeatureSet, next *wire.Spec, err error) {
	if spec.Criterion != scoring.Residual {
		set, err = SelectFeatures(spec, checkpoints, now)
		return set, nil, err
	}
	plan, lineage, err := endResidualPass(spec, checkpoints)
	if err != nil {
		return nil, nil, fmt.Errorf("pass %d of exploration %s: %w", spec.Pass, spec.Exploration, err)
	}
	if plan.Done {
		return newFeatureSet(spec, plan.Selection(), lineage, now), nil, nil
	}
	return nil, nextPass(spec, plan, lineage), nil
}

// endResidualPass merges the sums of a pass in partition order and hands them to the plan.
func endResidualPass(spec *wire.Spec, checkpoints []*wire.Checkpoint) (*scoring.ResidualPlan, wire.Lineage, error) {
	plan := spec.ResidualPlan()
	if spec.Pass == 0 {
		sums, lineage := mergeCheckpoints(spec, checkpoints)
		plan, err := plan.AfterScores(sums, spec.Encoder.Label.Task)
		return plan, lineage, err
	}
	if err := checkSameRows(spec, checkpoints); err != nil {
		return nil, wire.Lineage{}, err
	}
	if plan.Pool == nil {
		sums, _ := mergeCheckpoints(spec, checkpoints)
		plan, err := plan.AfterScores(sums, spec.Encoder.Label.Task)
		return plan, *spec.FirstPass, err
	}
	products := training.NewProducts(plan.Columns())
	for _, part := range spec.Partitions {
		products.Merge(checkpointOf(checkpoints, part.Partition).Products)
	}
	plan, err := plan.AfterGram(products)
	return plan, *spec.FirstPass, err
}

// checkSameRows reports a partition in which a later pass came to another end than the first one.
func checkSameRows(spec *wire.Spec, checkpoints []*wire.Checkpoint) error {
	for i, part := range spec.Partitions {
		c, first := checkpointOf(checkpoints, part.Partition), spec.FirstPass.Partitions[i]
		if c == nil || !c.Closed || c.NextOrdinal != first.ClosingOrdinal {
			return fmt.Errorf("partition %d: %w: %+v", part.Partition, scoring.ErrOtherRows, first)
		}
	}
	return nil
}

// nextPass is the spec of the pass after that of spec: the same exploration, over the rows that the first pass took.
func nextPass(spec *wire.Spec, plan *scoring.ResidualPlan, first wire.Lineage) *wire.Spec {
	next := *spec
	next.Pass, next.Residual, next.FirstPass = spec.Pass+1, plan, &first
	next.Partitions = make([]wire.Partition, len(spec.Partitions))
	for i, part := range spec.Partitions {
		next.Partitions[i] = part
		next.Partitions[i].EndOffset = first.Partitions[i].NextOffset
	}
	return &next
}
