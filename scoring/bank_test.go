package scoring

import (
	"reflect"
	"sync"
	"testing"
)

func TestPartitionsShareABankThatDraws(t *testing.T) {
	c := Candidates{Sigma: 2, Dim: 20, Count: 300}
	plan := planBank(c, 1, 1, 1)
	plan.cut(c.Count, 1, 2)
	plan.keptShards, plan.Rows = 2, 40
	bank := newBank(c, plan)
	const rows = 150
	x, y := normalRows(1, rows, c.Dim), classTargets(rows, 3)
	want := scoreRows(c.DrawAll(), x, rows, y)
	var partitions sync.WaitGroup
	for step := range 6 {
		partitions.Go(func() {
			a := NewAccumulator(bank, NewSums(c.Count, 3))
			for first := 0; first < rows; first += step + 1 {
				next := min(first+step+1, rows)
				a.Add(x[first*c.Dim:next*c.Dim], next-first, y.Slice(first, next))
			}
			if !reflect.DeepEqual(a.Sums(), want) {
				t.Errorf("messages of %d rows give other sums", step+1)
			}
		})
	}
	partitions.Wait()
	if got := len(bank.buffers); got != 2 {
		t.Errorf("%d buffers came back, want 2", got)
	}
}
