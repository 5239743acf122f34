package memlimit

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestTheConfiguredLimitComesFirst(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "3GiB")
	found, err := Find(1 << 30)
	if err != nil || found != (Limit{1 << 30, SourceConfig}) {
		t.Errorf("%+v, %v", found, err)
	}
	before := debug.SetMemoryLimit(2 << 30) // as the runtime does from the variable at start
	defer debug.SetMemoryLimit(before)
	if found, err = Find(0); err != nil || found != (Limit{2 << 30, SourceEnvironment}) || found.Soft() != 2<<30 {
		t.Errorf("%+v, %v", found, err)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if found, err = Find(0); err != nil || found.Source != SourceNone || found.Bytes != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestLimitOfTheControlGroup(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	found, err := Find(0)
	if err != nil || (found.Source == SourceNone) != (found.Bytes == 0) || found.Source != SourceNone &&
		found.Source != SourceCgroup {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestSoftLimitLeavesRoom(t *testing.T) {
	for limit, want := range map[int64]int64{
		0: 0, 16 << 20: 0, 128 << 20: 96 << 20, 1 << 30: 1<<30 - 1<<30/10,
	} {
		if got := (Limit{limit, SourceConfig}).Soft(); got != want {
			t.Errorf("%d: %d, want %d", limit, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	limit := Limit{1 << 30, SourceConfig}
	limit.Apply()
	if got := debug.SetMemoryLimit(-1); got != limit.Soft() {
		t.Errorf("%d, want %d", got, limit.Soft())
	}
	Limit{Source: SourceNone}.Apply()
	if got := debug.SetMemoryLimit(-1); got != limit.Soft() {
		t.Errorf("no limit changed it to %d", got)
	}
}
