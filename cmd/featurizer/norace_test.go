//go:build !race

package main

// underRace says that the race detector is on: arithmetic is many times slower.
const underRace = false
