//go:build !(failpoints && unix)

package failpoint

// Enabled says whether this build acts on triggers.
const Enabled = false

// Hit passes a point: nothing in this build.
func Hit(Point) {}
