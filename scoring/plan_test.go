package scoring

import (
	"math"
	"testing"
)

func TestPlanStaysWithinTheMemory(t *testing.T) {
	const partitions = 4
	for _, c := range []Candidates{
		{Dim: 784, Count: 100_000}, {Dim: 77, Count: 10_000}, {Dim: 3, Count: 1_000_000}, {Dim: 30_000, Count: 500},
	} {
		full := PlanBank(c, BankOptions{Memory: math.MaxInt64})
		if full.Kept != c.Count || full.Drawn != 0 || full.BufferBytes != 0 {
			t.Errorf("%+v: %+v does not keep all", c, full)
		}
		for _, procs := range []int{1, 2, 64} {
			last := planBank(c, 1, partitions, procs)
			if last.Kept != 0 || last.Drawn != c.Count || last.Rows < 1 || last.buffers != 1 {
				t.Errorf("%+v: %+v keeps candidates that there is no room for", c, last)
			}
			for memory := last.bytes(partitions); memory < full.KeptBytes; memory += full.KeptBytes / 17 {
				p := planBank(c, memory, partitions, procs)
				if used := p.bytes(partitions); used > memory {
					t.Errorf("%+v: %d bytes of %d used: %+v", c, used, memory, p)
				}
				if p.Kept+p.Drawn != c.Count || p.Drawn == 0 || p.Rows < last.Rows || p.buffers < last.buffers || p.buffers > procs {
					t.Errorf("%+v with %d bytes: %+v after %+v", c, memory, p, last)
				}
				if p.buffers == last.buffers && p.Kept < last.Kept {
					t.Errorf("%+v with %d bytes: %+v keeps fewer than %+v", c, memory, p, last)
				}
				last = p
			}
			if p := planBank(c, full.KeptBytes, partitions, procs); p.Drawn != 0 {
				t.Errorf("%+v: %+v draws what fits", c, p)
			}
		}
	}
}
