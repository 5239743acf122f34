package main

import (
	"testing"
	"time"
)

// at returns a time the given number of minutes after start.
func at(minutes float64) time.Time { return start.Add(time.Duration(minutes * float64(time.Minute))) }

func TestJoinTakesTheFirstLabelWithinTheInterval(t *testing.T) {
	orders := []order{
		{ID: "a", Time: at(0)},
		{ID: "b", Time: at(10)},
		{ID: "c", Time: at(20)},
		{ID: "d", Time: at(30)},
		{ID: "e", Time: at(40)},
	}
	labels := []label{
		{"a", at(50), "no"}, {"a", at(5), "yes"}, {"a", at(5), "yes"}, // the second is older and arrives twice
		{"b", at(70), "yes"},                        // at the end of the interval
		{"c", at(80.1), "yes"},                      // after the end of the interval
		{"d", at(29.9), "yes"}, {"d", at(31), "no"}, // before the order
		{"x", at(1), "yes"},
	}
	want := map[string]string{"a": "yes", "b": "yes", "d": "no"}
	joined := join(orders, labels)
	if len(joined) != len(want) {
		t.Errorf("joined %v", joined)
	}
	for id, returned := range want {
		if joined[id].Returned != returned || joined[id].ID != id {
			t.Errorf("%s: %+v, want %s", id, joined[id], returned)
		}
	}
}

func TestCompareFindsEveryDifference(t *testing.T) {
	row := func(id, returned string) labelled { return labelled{order{ID: id, Time: at(1)}, returned} }
	want := map[string]labelled{"a": row("a", "yes"), "b": row("b", "no"), "c": row("c", "no")}
	elsewhere := row("c", "no")
	elsewhere.Time = elsewhere.Time.In(time.FixedZone("", 3600))
	if d := compare(want, []labelled{row("b", "no"), elsewhere, row("a", "yes")}); !d.none() {
		t.Errorf("the same rows in another order differ: %+v", d)
	}
	for name, c := range map[string]struct {
		got  []labelled
		want difference
	}{
		"missing": {[]labelled{row("a", "yes"), row("b", "no")}, difference{missing: 1}},
		"unexpected": {
			[]labelled{row("a", "yes"), row("b", "no"), row("c", "no"), row("d", "no")},
			difference{unexpected: 1},
		},
		"different": {[]labelled{row("a", "yes"), row("b", "yes"), row("c", "no")}, difference{different: 1}},
		"repeated":  {[]labelled{row("a", "yes"), row("b", "no"), row("c", "no"), row("a", "yes")}, difference{repeated: 1}},
	} {
		d := compare(want, c.got)
		if d.example == "" || d.none() {
			t.Errorf("%s: %+v names none", name, d)
		}
		if d.example = ""; d != c.want {
			t.Errorf("%s: %+v, want %+v", name, d, c.want)
		}
	}
}

// TestLabels checks that the labels have every difficulty of such a join, and stay within the job's
// watermarks.
func TestLabels(t *testing.T) {
	orders, returned := makeOrders(5000, 7)
	labels := makeLabels(orders, returned, 7)
	outOfOrder(orders, func(o order) time.Time { return o.Time }, 7)
	outOfOrder(labels, func(l label) time.Time { return l.Time }, 7)
	placed := map[string]time.Time{}
	for _, o := range orders {
		placed[o.ID] = o.Time
	}
	kinds := map[string]int{}
	seen := map[string]label{}
	var youngest time.Time
	for _, l := range labels {
		if l.Time.Before(youngest) {
			kinds["out of order"]++
			if youngest.Sub(l.Time) > disorder {
				t.Fatalf("a label is %v older than one before it", youngest.Sub(l.Time))
			}
		} else {
			youngest = l.Time
		}
		before, again := seen[l.ID]
		switch order, known := placed[l.ID]; {
		case !known:
			kinds["unknown"]++
		case l.Time.After(order.Add(interval)):
			kinds["late"]++
		case again && before == l:
			kinds["twice"]++
		case again:
			kinds["taken back"]++
		}
		seen[l.ID] = l
	}
	kinds["never"] = len(orders) - len(join(orders, labels)) - kinds["late"]
	for _, kind := range []string{"out of order", "unknown", "late", "twice", "taken back", "never"} {
		if kinds[kind] < 20 {
			t.Errorf("%d labels are %s", kinds[kind], kind)
		}
	}
	yes := 0
	for _, r := range returned {
		if r == "yes" {
			yes++
		}
	}
	if yes < 2000 || yes > 4000 {
		t.Errorf("%d of 5000 orders come back", yes)
	}
}
