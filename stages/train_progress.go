package stages

import "github.com/eerf-stream/eerf/pipeline"

// followFeatures follows the stage through so many partitions of features, from nothing on.
func (r *TrainRunner) followFeatures(partitions int) {
	r.leaveFeatures()
	r.kept.Store(0)
	r.at = make([]*progress, partitions)
	for partition := range r.at {
		r.at[partition] = r.Counters.follow(StageTrain, partition, 0)
	}
}

func (r *TrainRunner) leaveFeatures() {
	for _, at := range r.at {
		at.leave()
	}
	r.at = nil
}

// reads notes that a partition is read from an offset on and ends at another.
func (r *TrainRunner) reads(partition int, next, end int64) {
	at := r.at[partition]
	at.fetched(pipeline.Fetched{NextOffset: next, End: end}, r.Clock())
	at.done(next)
}

// countTrained adds the messages and rows of the set trained on to what a partition gave.
func (r *TrainRunner) countTrained(partition int, before, counts TrainCounts) {
	rows := func(c TrainCounts) int64 { return c.Rows + c.Unlabelled + c.Duplicate }
	r.at[partition].count(counts.Messages-before.Messages-(counts.OtherSet-before.OtherSet), rows(counts)-rows(before))
}
