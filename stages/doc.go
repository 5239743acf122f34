// Package stages names the five stages of the flow and runs them:
//
//	events ─▶ calibrate ─▶ explorations ─▶ subsample ─▶ scores, samples ─▶ selection ─▶ feature-sets
//	   └───────────────────────────────▶ featurize ──────────────────────▶ features ─▶ train ─▶ models
//
// Each stage is a package below this one, in two layers: a core that receives decoded rows or
// records and has neither broker nor goroutine, and a runner around it that handles topics,
// ownership, restore and publication. Package offline explores and transforms files with the same
// cores, so a file and a stream of the same rows give the same feature set.
//
// Nouns:
//
//   - [Settings] combine the configurations of the stages;
//   - a [Process] holds the stages of this process, and the broker, the follower of the control
//     topics and the meter that they share;
//   - a [Condition] must hold for a process to do its work; a [MemoryNeed] bounds the memory of
//     one part.
//
// The life of an exploration:
//
//	planned (spec published) ─▶ subsampled (checkpoints, samples) ─▶ closed in every partition ─▶ selected
//	   (feature set, then current, published) ─▶ checkpoints tombstoned
//	planned or subsampled ─▶ superseded by a higher sequence number, cancelled or abandoned
//
// Memory is bounded for the process, not for each partition ([Settings.MemoryNeeds]). Code that
// needs several kinds of memory acquires them in one order, so that nothing waits for memory it
// holds: first fetches (package kafka), then a slot for working on a message ([events.Slots]), then
// output memory (package featurize). Code holding all of these may wait for a broker. Fetches of
// the project's own state ([pipeline.ForState]) have separate memory; code may wait for them while
// it holds any of these except a slot. A partition sends its outputs before it waits for a slot,
// and waits for their acknowledgement before it waits for output memory.
//
// Stages act only on the control topics (package state) and the log, so any process can be killed
// at any moment and another one continues. A running Process is safe for concurrent use.
package stages
