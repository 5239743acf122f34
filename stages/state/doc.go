// Package state is what the control topics of a pipeline say, followed once in a process: explorations (the newest spec and
// the requests that wait), feature-sets (the sets and which one is in use), models (the models and which one is in use), and
// scores (the newest checkpoints). Stages, commands and the status page read the same snapshots, and write to these topics
// through this package.
//
// A [Follower] reads the topics and holds the newest [Snapshot]. Run follows explorations and feature-sets, models where they
// are asked for; all of them by one loop (read.go), one goroutine for each topic. A snapshot is immutable: it may be kept and
// read by any goroutine, and what comes later is in later snapshots. [Follower.Wait] returns the first one that fits a
// condition. All methods of a Follower are safe from several goroutines.
//
// A record under a key of the pipeline that cannot be decoded is logged and counted ([Snapshot.Undecodable]), and never ends
// the process. Where it stands behind a spec or a pointer, that one is marked as shadowed, as it is by an older one of an owner
// that lost its ownership: whoever owns it writes it again, before compaction keeps the wrong one.
//
// What writes a record waits until the follower has read it, by its offset, so that the next snapshot has it.
//
// Memory: the specs and sets that the topics hold are kept whole. Of models everything is kept but weights, ranges and the
// path of λ; [Follower.LoadModel] reads one whole. Checkpoints are large, so a [Scoreboard] exists only while somebody
// needs one; it keeps the newest checkpoint of each partition, or the part of it that its Keep leaves.
package state
