// Package status is a page that shows what a pipeline does, for people: its flow with rates and lag, the scores of the
// exploration in hand, its feature sets and models, its dead letters. It is served beside the health of a process ([Mount]):
//
//	GET  /status/             the page; / leads there
//	GET  /api/status          what it shows, JSON ([Snapshot])
//	GET  /api/status/events   the same as server-sent events, a section at a time, as it changes
//	POST /api/explorations    asks for an exploration; wants the configured token
//
// The stages of a pipeline run in several processes, and each serves the page. What a process knows of itself, its rates and
// its lag in seconds, is marked as of this process. What concerns all is taken from the topics: how far they reach, what
// the groups have committed, checkpoints, feature sets, models, dead letters. Topics are looked at while somebody looks at the page,
// and for a moment after; with nobody there the page costs a few additions a second. Of scores and dead
// letters the end is read, a bounded number of records and bytes, and what is kept in memory is bounded too; what
// explorations, feature-sets and models say comes from the snapshots of the process (package state), which follows models from the
// first look on, if no stage needs them before.
//
// The page is made of files in assets, embedded as they are: hand-written ES modules, one style sheet, and uPlot, unmodified,
// for the charts. Nothing is fetched from elsewhere, and the policy of its content forbids it.
package status
