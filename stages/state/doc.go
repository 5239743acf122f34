// Package state follows the control topics of a pipeline once per process: explorations (the newest
// spec and the open requests), feature-sets and models (each with a pointer to the current one),
// and scores (the newest checkpoints). Stages, commands and the status page read the same
// snapshots, and write to these topics through this package.
//
// A [Follower] reads the topics and holds the newest [Snapshot]. Run follows explorations and
// feature-sets, and models once a caller asks for them, with one loop (read.go) in one goroutine
// per topic. A snapshot is immutable: any goroutine may keep and read it, and changes appear in
// later snapshots. [Follower.Wait] returns the first snapshot that meets a condition. All methods
// of a Follower are safe for concurrent use.
//
// A record under a key of the pipeline that cannot be decoded is logged and counted
// ([Snapshot.Undecodable]), and never ends the process. It becomes a [Repair], as does a stale
// record from a process that had lost its ownership, and a value that a recreated or truncated
// topic no longer holds. [Follower.Repair] makes the owner of the key rewrite it before compaction
// keeps the wrong one.
//
// Every write waits until the follower has read it back, so that the next snapshot contains it.
//
// Memory: the current feature set and the newest one are kept completely. The others are entries
// for lists; [Follower.LoadSet] reads a set once for all callers and shares it while one of them
// holds it. Models are kept without weights, ranges and the path of λ; [Follower.LoadModel] reads a
// complete one. Checkpoints are large, so a [Scoreboard] exists only while a caller needs it. It
// keeps the newest checkpoints of each partition.
package state
