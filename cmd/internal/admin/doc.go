// Package admin is the HTTP server of a process: what an orchestrator, a metrics server and an operator ask of it.
//
//	/livez    200 as long as the process answers
//	/readyz   200 while every condition holds that it needs to do its work, else 503; JSON with the reasons
//	/metrics  the metrics
//	/version  what it was built from, JSON
//	/config   the configuration in force, YAML, secrets hidden
//	/debug/pprof/  profiles, where configured
//
// It knows nothing of the stages: handlers and conditions are given to it, and others may be mounted beside its own
// ([Options].Mount). It listens where the configuration says, on the loopback by default, and asks nobody who he is: whoever
// reaches it may read all of it.
package admin
