// Package failpoint names the points at which tests can crash a process.
//
// A stage calls [Hit] at each point. In a normal build Hit is an empty function that the compiler
// removes. Under the build tag failpoints the environment controls it:
//
//	EERF_FAILPOINT        a trigger: checkpoint.before@3=kill sends SIGKILL to the process before it writes its third
//	                      checkpoint; =stop sends SIGSTOP
//	EERF_FAILPOINT_LOG    a file to which a trigger appends itself, as a line, when it fires
//	EERF_FAILPOINT_CLOCK  by which the clock for published times is ahead ([Now])
//
// Package internal/crash uses the points and checks the results.
package failpoint
