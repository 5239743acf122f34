package scoring

import (
	"reflect"
	"testing"
)

// TestStoresChangeNoBit scores rows with stores for all candidates, for some, and for none.
func TestStoresChangeNoBit(t *testing.T) {
	wide := candidatesOf(MapCosine, 700, 2000) // in several shards
	for name, bank := range map[string]*Bank{
		"cosine": NewBank(candidatesOf(MapCosine, 13, 500)),
		"ramp":   NewBank(candidatesOf(MapArcCosine1, 5, 100)),
		"linear": NewBank(candidatesOf(MapLinear, 60, 60)),
		"shards": NewBank(wide),
		"given":  NewBankOf(wide.DrawAll()),
		"mixed":  NewBankOf(mixedFeatures(700, 380)), // each kind in two shards, the last ones of which are not full
	} {
		const rows = 333
		x := normalRows(1, rows, bank.Dim())
		lists := []Targets{
			{Outputs: 1, Values: normalRows(2, rows, 1)}, classTargets(rows, 3),
			{Outputs: 2, Values: normalRows(3, rows, 2)},
		}
		var want []*Sums
		for _, targets := range lists {
			a := NewAccumulator(bank, NewSums(bank.Len(), targets.Outputs))
			a.Add(x, rows, targets)
			want = append(want, a.Sums())
		}
		half := FeatureStoreBytes(bank.Len(), rows, 1<<40) / 2
		for _, bytes := range []int64{0, half, 1 << 40} {
			store := NewFeatureStore(bytes)
			for i, targets := range lists {
				if got := store.Score(bank, x, rows, targets, i); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%s, %d bytes: sums %d differ", name, bytes, i)
				}
			}
		}
		var none *FeatureStore
		if got := none.Score(bank, x, rows, lists[0], 0); !reflect.DeepEqual(got, want[0]) {
			t.Errorf("%s, without a store: sums differ", name)
		}
	}
}

func TestStoreIsReplacedForAnotherBankOrRows(t *testing.T) {
	store := NewFeatureStore(1 << 20)
	targets := Targets{Outputs: 1, Values: normalRows(9, 120, 1)}
	rows := [][]float32{normalRows(1, 120, 7), normalRows(2, 120, 7)}
	banks := []*Bank{NewBank(candidatesOf(MapCosine, 7, 100)), NewBank(candidatesOf(MapCosine, 7, 260))}
	for _, turn := range []struct{ bank, x, rows int }{
		{0, 0, 120}, {1, 0, 120}, {1, 0, 120}, {1, 1, 120}, {1, 1, 60}, {0, 1, 60}, {0, 1, 0},
	} {
		bank, x := banks[turn.bank], rows[turn.x][:turn.rows*7]
		a := NewAccumulator(bank, NewSums(bank.Len(), 1))
		a.Add(x, turn.rows, targets.Slice(0, turn.rows))
		if got := store.Score(bank, x, turn.rows, targets.Slice(0, turn.rows), 0); !reflect.DeepEqual(got, a.Sums()) {
			t.Errorf("%+v: sums differ", turn)
		}
	}
}
