//go:build !race

package docscheck

// underRace says that the race detector is on, under which the programs that are built here would not be.
const underRace = false
