package scoring

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/training"
)

// DefaultRounds is the default of R, the rounds of the residual criterion.
const DefaultRounds = 3

// SelectOptions are the options of [SelectFrom].
type SelectOptions struct {
	// Criterion ranks the candidates.
	Criterion Criterion
	// Features is M.
	Features int
	// Rounds is R, for a criterion that has rounds; 0 means [DefaultRounds]. It is capped at
	// Features.
	Rounds int
	// Bins are candidates from which half of the features are chosen first, in one round; nil for
	// none.
	Bins []int32
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
	// Store keeps features from one round to the next, and from call to call of the same sample;
	// nil for none. It changes no bit.
	Store *FeatureStore
	// Progress is called before each round with its number, from 1 on; may be nil.
	Progress func(round int)
	// Stop is called before each round; the selection ends with its error. It may be nil.
	Stop func() error
}

// check reports an unknown criterion and panics on negative numbers.
func (o SelectOptions) check() error {
	if err := criterionNames.check(o.Criterion); err != nil {
		return fmt.Errorf("select features: %w", err)
	}
	if o.Rounds < 0 || o.Workers < 0 {
		panic(fmt.Sprintf("scoring: selection in %d rounds by %d workers", o.Rounds, o.Workers))
	}
	return nil
}

// rounds returns R.
func (o SelectOptions) rounds() int {
	rounds := o.Rounds
	if rounds == 0 {
		rounds = DefaultRounds
	}
	return max(min(rounds, o.Features), 1)
}

// SelectFrom chooses o.Features of the candidates of sums. Criteria that only use sums ([Select])
// read neither bank nor sample, which may be nil. For the others ([Criterion.NeedsRows]), sums must
// be those of the sample's rows against the bank's candidates, in any division into partitions:
// they are the scores of the first round. Later rounds score the sample in memory, with the
// candidates divided among workers. One worker adds to each sum, in row order, so the bits depend
// only on bank, sums and sample.
//
// Under Residual the features are in the order of choice. M is a maximum: there are fewer if no
// other candidate lowers the objective. Package adaptive decides how many are worth keeping, on
// held-out rows.
//
// It fails where [Select] does, and if the number of rows shows that the sums were made from
// another sample.
func SelectFrom(bank *Bank, sums *Sums, sample *Sample, task Task, o SelectOptions) (Selection, error) {
	if err := o.check(); err != nil {
		return Selection{}, err
	}
	if !o.Criterion.NeedsRows() {
		return Select(sums, task, o.Criterion, o.Features)
	}
	if choose := choices[o.Criterion]; choose != nil {
		return choose(bank, sums, sample, task, o)
	}
	return Selection{}, fmt.Errorf("select features: package adaptive selects by %v", o.Criterion)
}

// checkSample returns an error if the sums were made from another sample. It panics if the sample's
// shape is wrong.
func checkSample(bank *Bank, sums *Sums, sample *Sample) error {
	if sample.Dim != bank.Dim() || len(sample.X) != sample.Rows*sample.Dim {
		panic(fmt.Sprintf("scoring: sample of %d numbers for %d rows of %d, for a bank of %d",
			len(sample.X), sample.Rows, sample.Dim, bank.Dim()))
	}
	sample.Targets.check(sample.Rows, sample.Targets.Outputs)
	if int64(sample.Rows) != sums.Rows || sample.Targets.Outputs != sums.Outputs() || bank.Len() != sums.Candidates() {
		return fmt.Errorf("select features: sums of %d rows, %d outputs and %d candidates "+
			"for a sample of %d rows and %d outputs and a bank of %d",
			sums.Rows, sums.Outputs(), sums.Candidates(), sample.Rows, sample.Targets.Outputs, bank.Len())
	}
	return nil
}

// SelectBytes bounds the memory of [SelectFrom] for a number of rows and outputs, including its
// arguments: the sums and, for a criterion that needs rows, the sample and the bank. It counts live
// memory, not garbage of earlier rounds.
func SelectBytes(c Candidates, rows, outputs int, o SelectOptions) int64 {
	m0 := int64(c.Count)
	k := int64(outputs)
	m := int64(o.Features)
	sums := 8 * (m0*(2+k) + 4*k)
	bytes := sums + 8*m0*k + 12*m0 + m*(24+8*k) // scores, values and order, the selection
	if o.Criterion.NeedsRows() {
		bytes += 4*int64(rows)*(int64(c.Dim)+k) + BankBytes(c, 1) + sums + o.roundBytes(c, rows, outputs)
	}
	return bytes + bytes/8 // the allocator rounds up by no more
}

// roundBytes is the memory of a round of the residual criterion in addition to bank, sample and
// sums. Other criteria on rows need no more.
func (o SelectOptions) roundBytes(c Candidates, rows, outputs int) int64 {
	d := int64(c.Dim)
	k := int64(outputs)
	m := int64(o.Features)
	n := int64(rows)
	rounds := int64(o.rounds())
	features := min(m*(rounds-1)/rounds+int64(PoolSize(o.Features, o.Rounds)), int64(c.Count))
	if o.Bins != nil {
		features = max(features, int64(o.binPool()))
	}
	panels := (features + kernel.Width - 1) / kernel.Width * kernel.Width
	transformer := 4 * (features + panels) * (d + 2)          // drawn and packed
	block := 4 * min(n, BlockRows) * (features + k)           // features and outputs of some rows
	moments := 2 * training.SumsBytes(int(features), outputs) // while rows are added, and settled
	fit := 8 * (m*(features+k) + (k+5)*features + 2*k*(m+1))  // the factor; covariances, gains; solutions, weights
	model := 4*n*k + 8*k*(m+1) + 12*int64(c.Count)            // residuals; weights; values and order
	return transformer + block + moments + fit + model
}
