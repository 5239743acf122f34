// Package state follows the control topics of a pipeline once per process: explorations (the newest spec and the
// waiting requests), feature-sets (the sets and which one is in use), models (the models and which one is in use), and
// scores (the newest checkpoints). Stages, commands and the status page read the same snapshots, and write to these
// topics through this package.
//
// A [Follower] reads the topics and holds the newest [Snapshot]. Run follows explorations and feature-sets, and models
// once somebody asks for them, with one loop (read.go) in one goroutine per topic. A snapshot is immutable: any
// goroutine may keep and read it, and later changes appear in later snapshots. [Follower.Wait] returns the first
// snapshot that meets a condition. All methods of a Follower are safe for concurrent use.
//
// A record under a key of the pipeline that cannot be decoded is logged and counted ([Snapshot.Undecodable]), and never
// ends the process. If it comes after a spec or a pointer, that one is marked as shadowed, just as by an older record
// of an owner that lost its ownership. The owner of the key then writes it again, before compaction keeps the wrong
// one.
//
// Whatever writes a record waits until the follower has read it, by its offset, so that the next snapshot contains it.
//
// Memory: the feature set in use and the newest one are kept whole. The others are entries for lists;
// [Follower.LoadSet] reads one, once for everybody who asks, and shares it while somebody holds it. Of models
// everything is kept except weights, ranges and the path of λ; [Follower.LoadModel] reads a whole one. Checkpoints are
// large, so a [Scoreboard] exists only while somebody needs it. It keeps the newest checkpoint of each partition, or
// the part of it that its Keep leaves.
package state
