// Package nearest finds the name that was probably meant.
package nearest

import "github.com/agnivade/levenshtein"

// Name returns the known name nearest to the given one, or "" if none is near: at most a few letters may be wrong, and half
// of them must be right. Of equally near names it returns the first.
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

// longest is how much of a name is compared: no known name is near a longer one.
const longest = 100
