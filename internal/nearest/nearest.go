// Package nearest finds the known name that a misspelled one probably means.
package nearest

import "github.com/agnivade/levenshtein"

// Name returns the known name nearest to the given one by edit distance, the first among equals, or
// "" if none is near. A near name differs in at most a few letters, and in at most half of them.
func Name(name string, known []string) string {
	best, bestDistance := "", min(len(name), longest)/3+2
	for _, one := range known {
		distance := levenshtein.ComputeDistance(name[:min(len(name), longest)], one[:min(len(one), longest)])
		if distance < bestDistance && 2*distance <= max(len(name), len(one)) {
			best, bestDistance = one, distance
		}
	}
	return best
}

// longest is the number of compared bytes; all known names are shorter.
const longest = 100
