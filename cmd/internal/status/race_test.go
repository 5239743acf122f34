//go:build race

package status

// underRace: the tests run under the race detector, which slows the browser down for no gain, because other tests send
// the same requests to the server.
const underRace = true
