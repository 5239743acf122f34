// Package crash breaks a running pipeline on purpose and checks that it keeps its promises.
//
// A schedule runs the real program as processes, built with the tag failpoints, on a broker of its own, with rows
// flowing in. Its [Plan], a function of a seed alone, says who is killed or paused at which named point (package
// internal/failpoint) and when, who joins and leaves, and when the broker dies. When the plan is done the pipeline comes
// to rest, and [Run] compares the topics with the input. Which rows an exploration takes depends on when its planner
// looked, so each feature set is computed again in memory, undisturbed, from the ranges in its lineage, and has to be the
// same. Sampled rows must be rows of events, every row must be once in features or in the dead letters, counts must add
// up, and models must be reproducible.
//
// TestSchedules runs cells of a matrix of every point with every action, and random plans; its flags ask for as
// many as one likes (make soak). The test's own program is also the embedded broker, in a process that can be killed.
// docs/reliability.md says what is promised and what was found.
package crash
