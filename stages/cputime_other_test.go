//go:build !unix

package stages

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
