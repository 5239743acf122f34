// Package status is a read-only page that shows what a pipeline does: its flow with rates and lag, the scores of the running
// exploration, its feature sets and models, its dead letters. It is served with the health of a process ([Mount]):
//
//	GET  /status/             the page; / redirects there
//	GET  /api/status          what it shows, JSON ([Snapshot])
//	GET  /api/status/events   the same as server-sent events, a section at a time, as it changes
//
// The stages of a pipeline run in several processes, and each serves the page. What a process knows only of itself, its rates and
// its lag in seconds, is marked as of this process. Everything else comes from the topics: their ends, the groups' committed
// offsets, checkpoints, feature sets, models, dead letters. The topics are read while somebody has the page open and for a moment
// after. Otherwise the page asks every ten seconds for the ends of the topics and for new dead letters, which its curves show. Of scores and dead letters it
// reads the ends, a bounded number of records and bytes, and keeps a bounded amount. Explorations, feature sets and models come from
// the snapshots of the process (package state), which follows models from the first look on, if no stage needs them before.
//
// The page consists of the files in assets, embedded unchanged: hand-written ES modules, one style sheet, and uPlot, unmodified, for
// the charts. It fetches nothing from elsewhere, and its content security policy forbids that.
package status
