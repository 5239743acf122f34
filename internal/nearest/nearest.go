// Package nearest finds the name that was probably meant.
package nearest

import "github.com/agnivade/levenshtein"

// Name returns the known name nearest to the given one, or "" if none is near: at most a few letters may be wrong, and half
// of them must be right. Of equally near names it returns the first.
func Name(name string, known []string) string {
	best, bestDistance := "", Limit(name)
	for _, one := range known {
		if distance := Distance(name, one); distance < bestDistance && 2*distance <= max(len(name), len(one)) {
			best, bestDistance = one, distance
		}
	}
	return best
}

// longest is how much of a name is compared.
const longest = 100

// Limit is the distance from which a name is too far away. It grows with the length.
func Limit(name string) int { return min(len(name), longest)/3 + 2 }

// Distance is the number of insertions, deletions and replacements between two names. Long names are cut, because no known
// name is near them.
func Distance(a, b string) int {
	return levenshtein.ComputeDistance(a[:min(len(a), longest)], b[:min(len(b), longest)])
}
