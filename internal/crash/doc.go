// Package crash breaks a running pipeline on purpose and checks that it keeps its promises.
//
// A schedule runs the real programs as processes, built with the tag failpoints, on a broker of its own, with rows
// flowing in. Its [Plan], a function of a seed alone, says who is killed or paused at which named point (package
// internal/failpoint) and when, who joins and leaves, and when the broker dies. When the plan is through the pipeline
// comes to rest, and [Run] compares what stands on the topics with the input and with an uninterrupted run in memory:
// the same feature sets, every row once in features or in the dead letters, counts that add up, models that can be
// computed again.
//
// The tests run a matrix of every point with every action and a few random plans; the command soak (make soak) runs as
// many as one likes. docs/reliability.md says what is promised and what was found.
package crash
