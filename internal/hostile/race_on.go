//go:build race

package hostile

// RaceDetector is set if the tests run under the race detector, which makes arithmetic many times
// slower.
const RaceDetector = true
