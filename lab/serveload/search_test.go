package serveload

import (
	"testing"
	"time"
)

func TestSearchEnclosesTheRateAtWhichAServerBecomesSlow(t *testing.T) {
	for name, c := range map[string]struct {
		slowFrom, keepsTo float64
		good, wrong       float64
		tries             int
	}{
		"above the first":   {slowFrom: 2600, keepsTo: 1e9, good: 2500, wrong: 3000, tries: 7},
		"below the first":   {slowFrom: 100, keepsTo: 1e9, good: 94, wrong: 110, tries: 5},
		"does not keep up":  {slowFrom: 1e9, keepsTo: 700, good: 625, wrong: 750, tries: 5},
		"slow at any":       {slowFrom: 0, keepsTo: 1e9, good: 0, wrong: 62.5, tries: 3},
		"quick at any rate": {slowFrom: 1e9, keepsTo: 1e9, good: 64000, wrong: 0, tries: 9},
	} {
		t.Run(name, func(t *testing.T) {
			s := &search{name: name, at: func(rate float64) (figures, error) {
				f := figures{p99: slow / 2, answered: min(rate, c.keepsTo)}
				if rate >= c.slowFrom {
					f.p99 = slow + time.Microsecond
				}
				return f, nil
			}}
			if err := s.run(250); err != nil {
				t.Fatal(err)
			}
			if s.good != c.good || s.wrong != c.wrong || len(s.measured) != c.tries {
				t.Errorf("%s: %d tries, want %v to %v in %d", s, len(s.measured), c.good, c.wrong, c.tries)
			}
		})
	}
}

func TestMediansAreTakenPerFigure(t *testing.T) {
	all := []figures{{p50: 1, p99: 9, answered: 5}, {p50: 3, p99: 7, answered: 4}, {p50: 2, p99: 8, answered: 6}}
	if m := medians(all); m.p50 != 2 || m.p99 != 8 || m.answered != 5 {
		t.Errorf("%+v", m)
	}
}
