package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// order is an event.
type order struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Amount   float64   `json:"amount"`
	Items    int       `json:"items"`
	Distance float64   `json:"distance_km"`
	Country  string    `json:"country"`
	Express  bool      `json:"express"`
}

// label is the outcome of an order, known some time later.
type label struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Returned string    `json:"returned"`
}

const (
	// interval is the time after an order within which a label counts, as in join.sql.
	interval = time.Hour
	// disorder is the maximum delay of a row behind a younger one. It is less than the watermarks
	// of join.sql allow.
	disorder = 20 * time.Second
)

// start is the time of the first order.
var start = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)

// makeOrders returns orders, about one a second, and their outcomes.
func makeOrders(rows int, seed uint64) (orders []order, returned []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	at := start
	for i := range rows {
		at = at.Add(time.Duration(random.ExpFloat64() * float64(time.Second))).Truncate(time.Millisecond)
		o := order{
			ID: fmt.Sprintf(
				"o-%06d",
				i,
			), Time: at, Amount: math.Round(100*math.Exp(3.5+0.8*random.NormFloat64())) / 100, Items: 1 + random.IntN(8),
			Distance: math.Round(
				10*600*random.Float64(),
			) / 10, Country: []string{"at", "ch", "de", "fr"}[random.IntN(4)], Express: random.IntN(3) == 0,
		}
		orders, returned = append(orders, o), append(returned, outcome(o, random.NormFloat64()))
	}
	return orders, returned
}

// outcome reports whether an order is returned: a nonlinear function with noise.
func outcome(o order, noise float64) string {
	inclination := 1.5*math.Sin(math.Log(o.Amount)*2) + math.Cos(o.Distance/90) + 0.15*float64(o.Items-4) + 0.3*noise
	if o.Express {
		inclination -= 0.5
	}
	if o.Country == "ch" {
		inclination += 0.6
	}
	if inclination > 0 {
		return "yes"
	}
	return "no"
}

// makeLabels returns realistic labels of orders: delayed, some of them too late, missing,
// duplicated, withdrawn, or for unknown orders.
func makeLabels(orders []order, returned []string, seed uint64) []label {
	random := rand.New(rand.NewPCG(seed, 2))
	var labels []label
	add := func(id string, at time.Time, returned string) {
		labels = append(labels, label{id, at.Truncate(time.Millisecond), returned})
	}
	for i, o := range orders {
		after := time.Second + time.Duration(random.Float64()*float64(55*time.Minute))
		switch kind := random.Float64(); {
		case kind < 0.08: // never
			continue
		case kind < 0.12: // too late
			add(o.ID, o.Time.Add(interval+after), returned[i])
			continue
		case kind < 0.22: // twice
			add(o.ID, o.Time.Add(after), returned[i])
		case kind < 0.27: // withdrawn: the first one counts
			add(o.ID, o.Time.Add(after+time.Minute), map[string]string{"yes": "no", "no": "yes"}[returned[i]])
		case kind < 0.28: // for an unknown order
			add("x-"+o.ID, o.Time.Add(after), returned[i])
		}
		add(o.ID, o.Time.Add(after), returned[i])
	}
	return labels
}

// outOfOrder sorts rows by arrival: by their times, with random delays up to disorder.
func outOfOrder[T any](rows []T, timeOf func(T) time.Time, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 3))
	type arriving struct {
		row T
		at  time.Time
	}
	list := make([]arriving, len(rows))
	for i, row := range rows {
		list[i] = arriving{row, timeOf(row).Add(time.Duration(random.Float64() * float64(disorder)))}
	}
	slices.SortStableFunc(list, func(a, b arriving) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	for i := range list {
		rows[i] = list[i].row
	}
}
