// Package stages names the five stages of the flow and runs them:
//
//	events ─▶ calibrate ─▶ explorations ─▶ subsample ─▶ scores, samples ─▶ select ─▶ feature-sets
//	   └───────────────────────────────▶ featurize ──────────────────────▶ features ─▶ train ─▶ models
//
// Each stage is a package of its own below this one. There it has two layers: a core, fed with decoded rows or records, with
// no broker and no goroutine; and a runner around it, which knows topics, ownership, restore and publication. Files are
// explored and transformed by the same cores (package offline), which is why a file and a stream of the same rows give
// the same feature set.
//
// Nouns:
//
//   - [Settings] are what the stages are configured with, composed of what each asks for;
//   - a [Process] is the stages that run in this process, with the one broker, follower of the control topics and meter
//     that they share; it hands each of them what it needs;
//   - a [Condition] is one thing that has to hold for a process to do its work, a [MemoryNeed] what a part of it takes at
//     most, a [Snapshot] what it did and where it stands.
//
// The life of an exploration:
//
//	planned (spec published) ─▶ subsampled (checkpoints, samples) ─▶ closed in every partition ─▶ selected
//	   (feature set, then current, published) ─▶ checkpoints tombstoned
//	planned or subsampled ─▶ superseded by a higher sequence number, cancelled or abandoned
//
// Every stage acts on what the control topics say (package state) and on the log alone, so any process can be killed at any
// moment and another one goes on. A Process is safe from several goroutines once it runs.
package stages
