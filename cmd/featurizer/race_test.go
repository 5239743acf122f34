//go:build race

package main

// underRace: the race detector is on, which makes arithmetic many times slower.
const underRace = true
