package scoring

import (
	"math"
	"runtime"
	"testing"
)

func TestPlanStaysWithinTheMemory(t *testing.T) {
	for _, c := range []Candidates{
		{Dim: 784, Count: 100_000}, {Dim: 77, Count: 10_000}, {Dim: 3, Count: 1_000_000}, {Dim: 30_000, Count: 500},
	} {
		full := PlanBank(c, BankOptions{Memory: math.MaxInt64})
		if full.Kept != c.Count || full.Drawn != 0 || full.BufferBytes != 0 {
			t.Errorf("%+v: %+v does not keep all", c, full)
		}
		least := planBank(c, 1, 4, 2)
		if least.Kept != 0 || least.Drawn != c.Count || least.Rows < 1 {
			t.Errorf("%+v: %+v keeps candidates that there is no room for", c, least)
		}
		floor := least.BufferBytes + 4*least.RowBytes
		last := least
		for memory := floor; memory < full.KeptBytes; memory += full.KeptBytes / 17 {
			p := planBank(c, memory, 4, 2)
			if used := p.KeptBytes + p.BufferBytes + 4*p.RowBytes; used > memory {
				t.Errorf("%+v: %d bytes of %d used: %+v", c, used, memory, p)
			}
			if p.Kept+p.Drawn != c.Count || p.Drawn == 0 || p.Kept < last.Kept || p.Rows < last.Rows {
				t.Errorf("%+v with %d bytes: %+v after %+v", c, memory, p, last)
			}
			last = p
		}
		if p := planBank(c, full.KeptBytes, 4, 2); p.Drawn != 0 {
			t.Errorf("%+v: %+v draws what fits", c, p)
		}
	}
}

func TestPlanKeepsCoordinates(t *testing.T) {
	p := PlanBank(Candidates{Map: MapLinear, Dim: 5000, Count: 5000}, BankOptions{Memory: 1})
	if p.Kept != 5000 || p.Drawn != 0 || p.shards != 1 {
		t.Errorf("%+v", p)
	}
}

func TestPlanDefaults(t *testing.T) {
	c := Candidates{Dim: 784, Count: 1_000_000}
	a, b := PlanBank(c, BankOptions{}), planBank(c, DefaultMemory, 1, runtime.GOMAXPROCS(0))
	if a != b {
		t.Errorf("%+v, want %+v", a, b)
	}
}
