//go:build race

package hostile

// RaceDetector says that the tests run under the race detector, which makes arithmetic many times slower.
const RaceDetector = true
