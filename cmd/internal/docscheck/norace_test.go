//go:build !race

package docscheck

// underRace: the race detector is on. Programs built here do not use it.
const underRace = false
