// Package crash breaks a running pipeline on purpose and checks that it keeps its promises.
//
// A schedule runs processes of the real program, built with the tag failpoints, on its own broker,
// while rows arrive. Its [Plan], a function of a seed alone, lists the processes to kill or pause,
// at which named points (package internal/failpoint) and times, the processes that join and leave,
// and the times when the broker dies. At the end of the plan the schedule waits until the pipeline
// is idle, and [Run] compares the topics with the input. The rows of an exploration depend on the
// time of its planning, so each feature set is recomputed in memory, undisturbed, from the ranges
// in its lineage, and must be the same. Sampled rows must be rows of events, every row must be
// exactly once in features or the dead letters, counts must add up, and models must be
// reproducible.
//
// TestSchedules runs cells of a matrix of every point with every action, and random plans; its
// flags set their numbers (make soak). The test binary is also the embedded broker, in a process
// that can be killed. docs/reliability.md lists the promises and the faults found.
package crash
