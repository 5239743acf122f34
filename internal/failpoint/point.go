package failpoint

// Point is a named place in the stages.
type Point string

// The points.
const (
	PlanBefore Point = "plan.before" // calibrate: the spec is ready
	PlanAfter  Point = "plan.after"  // calibrate: the spec is acknowledged

	RestoreBefore    Point = "restore.before"    // subsample: the partition is owned, scores not yet read
	RestoreAfter     Point = "restore.after"     // subsample: the checkpoint is restored
	CheckpointBefore Point = "checkpoint.before" // subsample: dead letters are acknowledged, the checkpoint is not sent
	CheckpointAfter  Point = "checkpoint.after"  // subsample: the checkpoint is acknowledged, the offset not committed
	SubsampleDrain   Point = "subsample.drain"   // subsample: reading has ended, the state is not saved
	RetireBefore     Point = "retire.before"     // subsample: the exploration is over, its checkpoints still exist

	SamplesBefore Point = "samples.before" // subsample: sampled rows are about to be sent
	SamplesAfter  Point = "samples.after"  // subsample: they are acknowledged, no checkpoint covers them

	SampleRead  Point = "sample.read"  // selection: the sample is in memory
	RoundBefore Point = "round.before" // selection: a round begins
	SetBefore   Point = "set.before"   // selection: the feature set is ready
	SetBetween  Point = "set.between"  // selection: it is acknowledged, the pointer to it not written
	SetAfter    Point = "set.after"    // selection: the pointer is acknowledged

	ResumeBefore     Point = "resume.before"     // featurize: the partition is owned, the end of the output is unknown
	ResumeAfter      Point = "resume.after"      // featurize: the end of the output is known
	DeadLettersAfter Point = "deadletters.after" // featurize: dead letters are acknowledged, later outputs not sent
	FeaturesBefore   Point = "features.before"   // featurize: a request of outputs is about to be sent
	FeaturesAfter    Point = "features.after"    // featurize: the request is acknowledged, but not recorded
	BlocksBefore     Point = "blocks.before"     // featurize: a closed block of live errors is about to be sent
	BlocksAfter      Point = "blocks.after"      // featurize: it is acknowledged
	FetchBefore      Point = "fetch.before"      // featurize: records are handled; the next fetch has not begun
	CommitAfter      Point = "commit.after"      // featurize: the offset is committed
	FeaturizeDrain   Point = "featurize.drain"   // featurize: reading has ended, the last request may be in progress

	TrainRead    Point = "train.read"    // train: features messages are in the sums
	ModelBefore  Point = "model.before"  // train: the model is ready
	ModelBetween Point = "model.between" // train: it is acknowledged, the pointer to it not written
	ModelAfter   Point = "model.after"   // train: the pointer is acknowledged
)

// All lists the points in the order of the flow.
func All() []Point {
	return []Point{
		PlanBefore, PlanAfter,
		RestoreBefore, RestoreAfter, CheckpointBefore, CheckpointAfter, SubsampleDrain, RetireBefore,
		SamplesBefore, SamplesAfter, SampleRead, RoundBefore, SetBefore, SetBetween, SetAfter,
		ResumeBefore, ResumeAfter, DeadLettersAfter, FeaturesBefore, FeaturesAfter, BlocksBefore, BlocksAfter,
		FetchBefore, CommitAfter, FeaturizeDrain,
		TrainRead, ModelBefore, ModelBetween, ModelAfter,
	}
}
