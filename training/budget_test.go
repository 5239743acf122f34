package training

import (
	"context"
	"slices"
	"testing"
	"time"
)

// A budget that does not suffice bounds the work, and the fit names its economies.
func TestBudgetBoundsLogisticTraining(t *testing.T) {
	fit, heldOut := classTable(1, 2000, 20, 30)
	whole := NewBudget(time.Hour)
	o := usual
	o.Budget = whole
	want, err := TrainLogistic(context.Background(), fit, heldOut, o)
	if err != nil || len(want.Economies) > 0 {
		t.Fatalf("economies %v, %v", want.Economies, err)
	}
	for _, share := range []float64{0.5, 0.1, 0.001} {
		limit := *whole.spent * share
		o.Budget = NewBudget(time.Duration(limit * float64(time.Second)))
		got, err := TrainLogistic(context.Background(), fit, heldOut, o)
		if err != nil {
			t.Fatal(err)
		}
		pass := passSeconds(2000, 20, 30) + passSeconds(500, 20, 30)
		if spent := *o.Budget.spent; spent > limit+10*pass {
			t.Errorf("share %v: spent %.4f s of %.4f s", share, spent, limit)
		}
		if len(got.Path) >= len(want.Path) || !slices.Contains(got.Economies, FewerLevels) {
			t.Errorf("share %v: %d of %d levels, economies %v", share, len(got.Path), len(want.Path), got.Economies)
		}
		requireFinite(t, &got.Fit)
	}
}

func TestUnlimitedBudgetChangesNothing(t *testing.T) {
	fit, heldOut := classTable(2, 1000, 10, 3)
	want, err := TrainLogistic(context.Background(), fit, heldOut, usual)
	if err != nil {
		t.Fatal(err)
	}
	o := usual
	o.Budget = NewBudget(time.Hour)
	got, err := TrainLogistic(context.Background(), fit, heldOut, o)
	if err != nil {
		t.Fatal(err)
	}
	requireSameBits(t, "weights", got.Model.Theta, want.Model.Theta)
}

// Under the squared loss a budget thins the grid, from the largest λ down.
func TestBudgetThinsTheGrid(t *testing.T) {
	d := randomTable(3, 400, 20, 2)
	level := factorSeconds(20) + solveSeconds(20, 2)
	for _, c := range []struct {
		levels float64
		want   int
	}{{100, 11}, {13.5, 11}, {9, 6}, {5, 3}, {0, 3}} {
		o := usual
		o.Budget = NewBudget(time.Duration(c.levels * level * float64(time.Second)))
		f, err := Train(d.part(0, 300).sums(), d.part(300, 400).sums(), o)
		if err != nil {
			t.Fatal(err)
		}
		last := f.Levels[len(f.Levels)-1]
		if len(f.Levels) != c.want || last != 100 || (len(f.Economies) > 0) != (c.want < 11) {
			t.Errorf("time for %v levels: tried %v, economies %v", c.levels, f.Levels, f.Economies)
		}
	}
}

func TestAffordableRowsFallWithClasses(t *testing.T) {
	least := AffordableRows(500, 2, time.Minute)
	if least < 133_000 {
		t.Errorf("%d rows of two classes: the defaults do not suffice for train.row_memory", least)
	}
	for _, classes := range []int{10, 100, 1000} {
		rows := AffordableRows(500, classes, time.Minute)
		if rows > least {
			t.Errorf("%d rows of %d classes, %d of fewer", rows, classes, least)
		}
		least = rows
	}
}
