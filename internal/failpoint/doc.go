// Package failpoint names the places where a crash is interesting, so that tests can cause one there.
//
// A stage calls [Hit] at each of them. In a normal build Hit is an empty function that the compiler removes. Under the
// build tag failpoints the environment says what happens:
//
//	EERF_FAILPOINT        a trigger: checkpoint.before@3=kill ends the process as kill -9 does when it is about to write
//	                      its third checkpoint; =stop stops it as SIGSTOP does, until it gets SIGCONT
//	EERF_FAILPOINT_LOG    a file to which the trigger appends itself, as a line, before it acts
//	EERF_FAILPOINT_CLOCK  how far ahead the clock for published times is ([Now])
//
// Package internal/crash, which uses them, says what has to hold afterwards.
package failpoint
