//go:build !(failpoints && unix)

package failpoint

import "time"

// Enabled reports whether this build has failpoints.
const Enabled = false

// Now is the time.
func Now() time.Time { return time.Now() }

// Hit does nothing in this build.
func Hit(Point) {}
