// Package memlimit bounds the memory of a process.
//
// The bound is on the resident memory of the process. The Go runtime gets a soft limit below it
// ([Limit.Soft]): near the limit, it collects garbage more often and returns memory. The runtime
// cannot bound live data; that is the job of the budgets in the code that allocates it.
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

// Headroom for resident memory that the runtime does not count: the program's text, the kernel's
// share of stacks.
const (
	leastHeadroom = 32 << 20
	headroomShare = 10 // a tenth
)

// Limit is the memory that a process may use.
type Limit struct {
	Bytes  int64  // 0 = no limit
	Source string // one of the sources
}

// Soft returns the limit for the Go runtime: a tenth below the limit, but at least 32 MiB below it.
// A limit from GOMEMLIMIT is already the runtime's and stays unchanged.
func (l Limit) Soft() int64 {
	if l.Bytes == 0 || l.Source == SourceEnvironment {
		return l.Bytes
	}
	return max(l.Bytes-max(l.Bytes/headroomShare, leastHeadroom), 0)
}

// Find returns the limit of this process: the configured one unless that is 0, otherwise
// GOMEMLIMIT, otherwise the limit of the control group, otherwise none.
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
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err,
		memlimit.ErrCgroupsNotSupported):
		return Limit{Source: SourceNone}, nil
	case err != nil:
		return Limit{Source: SourceNone}, fmt.Errorf("read the memory limit of the control group: %w", err)
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

// Installed returns the memory of the machine, 0 if it is unknown.
func Installed() int64 {
	bytes, err := memlimit.FromSystem()
	if err != nil || bytes > math.MaxInt64 {
		return 0
	}
	return int64(bytes)
}
