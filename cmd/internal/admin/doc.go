// Package admin is the HTTP server of a process, for orchestrators, metrics servers and operators.
//
//	/livez    200 as long as the process answers
//	/readyz   200 while every condition for its work holds, else 503; JSON with the pipeline and reasons
//	/metrics  the metrics
//	/version  the build, JSON
//	/config   the effective configuration, YAML, secrets hidden
//	/debug/pprof/  profiles, where configured
//
// It knows nothing of the stages: they provide handlers and conditions, and [Options].Mount adds
// more handlers. It listens on the configured address, by default on the loopback, and has no
// authentication: anyone who can reach it can read everything.
package admin
