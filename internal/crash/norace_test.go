//go:build !race

package crash

// raceEnabled: the tests run under the race detector; the processes do not.
const raceEnabled = false
