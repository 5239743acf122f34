package serveload

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// The search is for the rate at which the p99 exceeds slow. Answering less than the share kept of
// the requests in time also counts as too slow.
const (
	slow = time.Millisecond
	kept = 0.95
)

// Within these bounds, rates are doubled or halved until they enclose the result. The interval is
// then halved this many times.
const (
	leastRate, mostRate = 50, 100_000
	halvings            = 2
)

// search finds the rate at which a server becomes slow.
type search struct {
	name        string
	at          func(rate float64) (figures, error) // the medians of several rounds
	measured    []measured
	good, wrong float64 // the highest rate at which it is not slow, the lowest rate at which it is; 0 = unknown
}

// measured is a result at one rate.
type measured struct {
	rate float64
	figures
}

// find searches with a server and appends the search to the others.
func (s *speed) find(
	ctx context.Context,
	others []*search,
	name string,
	server *program,
	r request,
) ([]*search, error) {
	one := &search{name: name, at: func(rate float64) (figures, error) {
		var all []figures
		for range s.rounds {
			f, err := s.measure(ctx, name, server, r, rate)
			if err != nil {
				return figures{}, err
			}
			all = append(all, f)
		}
		return medians(all), nil
	}}
	return append(others, one), one.run(s.least)
}

// run searches from a starting rate.
func (s *search) run(rate float64) error {
	for rate >= leastRate && rate <= mostRate && (s.good == 0 || s.wrong == 0) {
		if err := s.try(rate); err != nil {
			return err
		}
		rate *= 2
		if s.good == 0 {
			rate = s.wrong / 2
		}
	}
	for i := 0; i < halvings && s.good > 0 && s.wrong > 0; i++ {
		if err := s.try(math.Round((s.good + s.wrong) / 2)); err != nil {
			return err
		}
	}
	return nil
}

// try measures at a rate.
func (s *search) try(rate float64) error {
	f, err := s.at(rate)
	if err != nil {
		return err
	}
	s.measured = append(s.measured, measured{rate, f})
	if f.p99 > slow || f.answered < kept*rate {
		s.wrong = rate
	} else {
		s.good = rate
	}
	return nil
}

// String gives the rate at which the p99 exceeds the limit.
func (s *search) String() string {
	switch {
	case s.good == 0:
		return fmt.Sprintf("%s: the p99 is above %v already at %.0f requests per second", s.name, slow, s.wrong)
	case s.wrong == 0:
		return fmt.Sprintf("%s: the p99 is still below %v at %.0f requests per second", s.name, slow, s.good)
	}
	return fmt.Sprintf("%s: the p99 exceeds %v between %.0f and %.0f requests per second", s.name, slow, s.good, s.wrong)
}

// printSearches prints a table of the measurements and the rates found.
func printSearches(all []*search) {
	fmt.Print("| server | requests a second | answered a second | p50, µs | p99, µs | p99.9, µs |\n" +
		"| --- | --- | --- | --- | --- | --- |\n")
	for _, s := range all {
		slices.SortFunc(s.measured, func(a, b measured) int { return cmp.Compare(a.rate, b.rate) })
		for _, m := range s.measured {
			fmt.Printf("| %s | %.0f | %.0f | %d | %d | %d |\n", s.name, m.rate, m.answered, m.p50.Microseconds(),
				m.p99.Microseconds(), m.p999.Microseconds())
		}
	}
	for _, s := range all {
		fmt.Printf("\n%s.\n", s)
	}
}
