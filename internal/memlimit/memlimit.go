// Package memlimit bounds the memory of a process.
//
// The bound is on the resident memory of the process. The Go runtime gets a soft limit below it ([Limit.Soft]): as its
// memory comes near, it collects garbage more often and gives memory back. The runtime cannot keep live data below a
// limit; that is up to the budgets of the code that allocates them.
package memlimit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Sources of a limit.
const (
	SourceConfig      = "memory.limit"
	SourceEnvironment = "GOMEMLIMIT"
	SourceCgroup      = "cgroup"
	SourceNone        = "none"
)

// What the runtime does not count of the resident set: the program's text, the kernel's share of stacks.
const (
	leastHeadroom = 32 << 20
	headroomShare = 10 // a tenth
)

// Limit is the memory that a process may take.
type Limit struct {
	Bytes  int64  // 0 = no limit
	Source string // where it is from
}

// Soft is the limit for the Go runtime: a tenth below the limit, or 32 MiB below if that is lower. A limit from GOMEMLIMIT is
// the runtime's own and stays unchanged.
func (l Limit) Soft() int64 {
	if l.Bytes == 0 || l.Source == SourceEnvironment {
		return l.Bytes
	}
	return max(l.Bytes-max(l.Bytes/headroomShare, leastHeadroom), 0)
}

// Find returns the limit of this process: the configured one unless that is 0, else that of GOMEMLIMIT, else that of its
// control group, else none.
func Find(configured int64) (Limit, error) {
	if configured > 0 {
		return Limit{configured, SourceConfig}, nil
	}
	if os.Getenv("GOMEMLIMIT") != "" { // the runtime refuses to start with an invalid value
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			return Limit{limit, SourceEnvironment}, nil
		}
		return Limit{Source: SourceNone}, nil
	}
	bytes, err := memlimit.FromCgroup()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return Limit{Source: SourceNone}, nil
	case err != nil:
		return Limit{Source: SourceNone}, fmt.Errorf("memory limit of the control group: %w", err)
	case bytes > math.MaxInt64:
		return Limit{Source: SourceNone}, nil
	}
	return Limit{int64(bytes), SourceCgroup}, nil
}

// Apply sets the runtime's soft limit.
func (l Limit) Apply() {
	if l.Bytes > 0 && l.Source != SourceEnvironment {
		debug.SetMemoryLimit(l.Soft())
	}
}
