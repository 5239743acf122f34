// Package stages holds the five stages of the flow and what ties them to topics:
//
//	events ─▶ calibrate ─▶ explorations ─▶ subsample ─▶ scores ─▶ select ─▶ feature-sets
//	   └───────────────────────────────▶ featurize ──────────────────────▶ features ─▶ train ─▶ models
//
// Each stage has two layers. The core is a plain object fed with decoded rows or records, with no broker and
// no goroutine: [Calibration], [Subsampler], [SelectFeatures], [Featurizer], [Trainer]. The runner around it
// knows topics, ownership, restore and publication: [Planner], [SubsampleRunner], [Selector],
// [FeaturizeRunner], [TrainRunner]. Files are explored and transformed by the same cores ([ExploreFile],
// [TransformFile]), which is why a file and a stream of the same rows give the same feature set.
//
// The life of an exploration:
//
//	planned (spec published) ─▶ subsampling (checkpoints) ─▶ closed in every partition ─▶ selected
//	   (feature set, then current, published) ─▶ checkpoints tombstoned
//	planned or subsampling ─▶ superseded by a higher sequence number, cancelled or abandoned
//
// A [Watch] holds what the topics explorations and feature-sets say of one pipeline; every stage acts on that
// and on the log alone, so any process can be killed at any moment and another one goes on.
//
// Memory: cores own their buffers; records given to them are released by the caller. The value of an output belongs to
// who got it, and may be handed back ([Featurizer.Recycle]). Concurrency: a core and a runner's partition belong to one
// goroutine; a Watch and [Counters] are safe from several.
package stages
