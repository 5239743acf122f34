// Package status serves a read-only page about a pipeline: its flow with rates and lag, the scores
// of the running exploration, its feature sets and models, its dead letters. It is part of the HTTP
// server of a process ([Mount]):
//
//	GET  /status/             the page; / redirects there
//	GET  /api/status          its contents, JSON ([Snapshot])
//	GET  /api/status/events   the same as server-sent events, a section at a time, as it changes
//
// The stages of a pipeline run in several processes, and each serves the page. Figures that a
// process knows only of itself, its rates and its lag in seconds, are marked as its own. All others
// come from the topics: their ends, the groups' committed offsets, checkpoints, feature sets,
// models, dead letters. The topics are read while a viewer has the page open and for a moment
// after. Otherwise the page asks every ten seconds for the ends of the topics and for new dead
// letters, for its curves. Of scores and dead letters it reads the ends, a bounded number of
// records and bytes, and keeps a bounded amount. Explorations, feature sets and models come from
// the snapshots of the process (package state), which follows models from the first poll on, if no
// stage needs them before.
//
// The page consists of the files in assets, embedded unchanged: hand-written ES modules, one style
// sheet, and uPlot, unmodified, for the charts. It fetches nothing from elsewhere, and its content
// security policy forbids that.
package status
