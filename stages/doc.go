// Package stages names the five stages of the flow and runs them:
//
//	events ─▶ calibrate ─▶ explorations ─▶ subsample ─▶ scores, samples ─▶ selection ─▶ feature-sets
//	   └───────────────────────────────▶ featurize ──────────────────────▶ features ─▶ train ─▶ models
//
// Each stage is a package of its own below this one, in two layers: a core that is fed decoded rows or records and has
// neither broker nor goroutine, and a runner around it that knows topics, ownership, restore and publication. Files are
// explored and transformed by the same cores (package offline), so a file and a stream of the same rows give the same
// feature set.
//
// Nouns:
//
//   - [Settings] configure the stages and consist of the configuration of each;
//   - a [Process] is the stages that run in this process, with the broker, the follower of the control topics and the
//     meter that they share;
//   - a [Condition] has to hold for a process to do its work; a [MemoryNeed] is the most that a part of it takes.
//
// The life of an exploration:
//
//	planned (spec published) ─▶ subsampled (checkpoints, samples) ─▶ closed in every partition ─▶ selected
//	   (feature set, then current, published) ─▶ checkpoints tombstoned
//	planned or subsampled ─▶ superseded by a higher sequence number, cancelled or abandoned
//
// Memory is bounded for the process, not for each partition ([Settings.MemoryNeeds]). Code that needs several kinds of
// memory takes them in one order, so that no one waits for memory it holds: first what is fetched (package
// kafka), then a slot to work on a message in ([events.Slots]), then memory for outputs (package featurize). Holding
// all of these, it may wait for a broker. Fetches of the project's own state ([pipeline.ForState]) have their own memory
// and may be waited for while holding any of these except a slot. A partition sends its outputs before it waits for a
// slot, and has all of them acknowledged before it waits for output memory.
//
// Every stage acts only on the control topics (package state) and the log, so any process can be killed at any moment
// and another one goes on. A running Process is safe for concurrent use.
package stages
