//go:build !race

package status

const underRace = false
