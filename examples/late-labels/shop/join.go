package main

import (
	"fmt"
	"time"
)

// labelled is an order with its label, in the form that the job writes.
type labelled struct {
	order
	Returned string `json:"returned"`
}

// equal compares times as instants.
func (l labelled) equal(other labelled) bool {
	same := l.Time.Equal(other.Time)
	l.Time, other.Time = time.Time{}, time.Time{}
	return same && l == other
}

// join assigns to each order the first of its labels within the interval. The result is keyed by
// the order's id.
func join(orders []order, labels []label) map[string]labelled {
	of := map[string][]label{}
	for _, l := range labels {
		of[l.ID] = append(of[l.ID], l)
	}
	joined := map[string]labelled{}
	for _, o := range orders {
		var first *label
		for _, l := range of[o.ID] {
			if l.Time.Before(o.Time) || l.Time.After(o.Time.Add(interval)) {
				continue
			}
			if first == nil || l.Time.Before(first.Time) {
				first = &l
			}
		}
		if first != nil {
			joined[o.ID] = labelled{o, first.Returned}
		}
	}
	return joined
}

// difference counts the differences between a topic and a join in memory.
type difference struct {
	missing, unexpected, different, repeated int
	example                                  string // example of a difference
}

func (d difference) none() bool { return d.missing+d.unexpected+d.different+d.repeated == 0 }

// compare compares the rows of a topic with the join.
func compare(want map[string]labelled, got []labelled) (d difference) {
	seen := map[string]int{}
	for _, row := range got {
		seen[row.ID]++
		expected, ok := want[row.ID]
		switch {
		case seen[row.ID] > 1:
			d.repeated++
			d.example = "twice: " + row.ID
		case !ok:
			d.unexpected++
			d.example = "not in the join: " + row.ID
		case !row.equal(expected):
			d.different++
			d.example = fmt.Sprintf("%+v instead of %+v", row, expected)
		}
	}
	for id := range want {
		if seen[id] == 0 {
			d.missing++
			d.example = "not on the topic: " + id
		}
	}
	return d
}
