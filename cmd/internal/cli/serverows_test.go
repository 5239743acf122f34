package cli

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/eerf-stream/eerf/config"
)

// Garbage is collected seldom, within a configured limit or the worst-case need.
func TestServingCollectsGarbageSeldom(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	const need, given = 1 << 30, 3 << 30
	for name, c := range map[string]struct {
		gogc, gomemlimit string
		plan             config.MemoryPlan
		percent          int
		limit            int64
	}{
		"no setting":       {"", "", config.MemoryPlan{Bytes: need}, seldom, need},
		"a limit is set":   {"", "", config.MemoryPlan{Bytes: need, Limit: given}, seldom, math.MaxInt64},
		"by the variables": {"50", "off", config.MemoryPlan{Bytes: need}, 70, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.gomemlimit)
			debug.SetGCPercent(70) // as the runtime does from the variable
			debug.SetMemoryLimit(math.MaxInt64)
			collectSeldom(c.plan)
			if p, l := debug.SetGCPercent(70), debug.SetMemoryLimit(-1); p != c.percent || l != c.limit {
				t.Errorf("%d %%, at most %d bytes, want %d %% and %d", p, l, c.percent, c.limit)
			}
		})
	}
}
