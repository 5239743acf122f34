//go:build race

package crash

// raceEnabled says that the tests run under the race detector, which the processes do not.
const raceEnabled = true
