//go:build race

package status

// underRace says that the tests run under the race detector, which makes a browser wait for no gain: what it asks of the
// server the other tests ask too.
const underRace = true
