package adaptive

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

func TestMeanOfMembersIsNoWorseThanTheirMeanLoss(t *testing.T) {
	for _, b := range []bent{
		{scoring.Regression, 1200, 8, 0.5, 2}, {scoring.Binary, 1200, 8, 0.5, 1}, {scoring.MultiClass, 1200, 8, 0.5, 3},
	} {
		const members, features = 3, 50
		c := b.candidates(700)
		var seen []Point
		l := learn(t, c, b.sample(), b.task, Options{
			Features: features, RefineSteps: 8, RefineRounds: 1, Members: members,
			Progress: func(p Point) { seen = append(seen, p) },
		})
		if !slices.Equal(seen, l.Report.Points) {
			t.Errorf("%+v: reported %v, in the result %v", b, seen, l.Report.Points)
		}
		least := slices.Repeat([]float64{math.Inf(1)}, members)
		for _, p := range l.Report.Points {
			if p.Kind != ByMean {
				least[p.Member-1] = min(least[p.Member-1], p.Loss)
			}
		}
		sum := 0.0
		for _, loss := range least {
			sum += loss
		}
		best := l.Report.Best()
		if best.Kind != ByMean || !(best.Loss <= sum/members*(1+1e-6)) || best.Features != l.Features.Len() {
			t.Errorf("%+v: mean %+v, members %v", b, best, least)
		}
		set := l.FeatureSet()
		lists := set.MemberFeatures()
		if set.MemberCount() != members || l.Features.Len() > features {
			t.Errorf("%+v: %d members, %d features", b, set.MemberCount(), l.Features.Len())
		}
		for j, list := range lists {
			if n := len(list); n < 1 || n > (features+members-1)/members {
				t.Errorf("%+v: %d features of member %d", b, n, j)
			}
		}
	}
}

// A member depends on no other member: the first of several is the only member of a smaller
// problem.
func TestFirstMemberIsASetOfItsShare(t *testing.T) {
	b := bent{scoring.Regression, 800, 6, 0.3, 1}
	o := Options{Features: 20, RefineSteps: 4, RefineRounds: 1}
	alone := learn(t, b.candidates(400), b.sample(), b.task, o)
	o.Features, o.Members = 60, 3
	all := learn(t, b.candidates(1200), b.sample(), b.task, o)
	if first := all.Features.Pick(all.FeatureSet().MemberFeatures()[0]); !first.Equal(alone.Features) {
		t.Error("the first member is not the set of 20 of 400 candidates")
	}
}

func TestFeatureOfTwoMembersIsKeptOnce(t *testing.T) {
	box := func(j uint16) scoring.Product {
		return scoring.Product{
			Box: true, Order: 1,
			Coordinate: [scoring.MaxOrder]uint16{j},
			Sign:       [scoring.MaxOrder]float32{1},
		}
	}
	member := func(phase float32, score float64, products ...scoring.Product) *Learned {
		f := &scoring.Features{
			Map: scoring.MapCosine, Dim: 3, Omega: []float32{1, phase, 0}, Phase: []float32{phase},
			Products: products,
		}
		n := f.Len()
		return &Learned{
			Features: f,
			Selection: scoring.Selection{
				Coding: scoring.Coding{Gain: []float64{1}, Offset: []float64{0}},
				Index:  make([]int32, n), Round: make([]int32, n),
				Score: slices.Repeat([]float64{score}, n), S: slices.Repeat([]float64{score}, n),
			},
		}
	}
	c := committee{members: []*Learned{member(1, 5, box(0), box(2)), member(2, 7, box(1), box(2))}}
	all := c.join()
	want := &scoring.Features{
		Map: scoring.MapCosine, Dim: 3, Omega: []float32{1, 1, 0, 1, 2, 0}, Phase: []float32{1, 2},
		Products: []scoring.Product{box(0), box(2), box(1)},
	}
	if !all.Features.Equal(want) || !slices.Equal(all.Members, []int32{1, 2, 1, 3, 2}) ||
		!slices.Equal(all.Selection.Score, []float64{5, 7, 5, 7, 7}) {
		t.Errorf("%+v of %v with scores %v", all.Features, all.Members, all.Selection.Score)
	}
}

func TestTooManyMembersAreErrors(t *testing.T) {
	b := bent{scoring.Regression, 100, 4, 0, 1}
	s, c := b.sample(), b.candidates(50)
	for want, o := range map[string]Options{
		"4 members requested for 3 features": {Features: 3, Members: 4},
		"learns nothing":                     {Features: 3, Members: 2, ChooseOnly: true},
	} {
		if _, err := Learn(c, fitSums(c, s), s, b.task, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
