package main

import "github.com/aclements/go-moremath/stats"

// seconds is the unit of times in package benchfmt.
const seconds = "sec/op"

// median returns the median of a unit's rounds.
func (l *line) median(unit string) float64 { return median(l.round[unit]) }

// gains returns the time of other divided by the time of l, in each round. Comparing within rounds
// cancels slow phases of the machine.
func (l *line) gains(other *line) []float64 {
	mine, theirs := l.round[seconds], other.round[seconds]
	ratios := make([]float64, min(len(mine), len(theirs)))
	for i := range ratios {
		ratios[i] = theirs[i] / mine[i]
	}
	return ratios
}

func median(values []float64) float64 { return stats.Sample{Xs: values}.Quantile(0.5) }

// spread formats half the distance between the quartiles, as a share of the median: an error
// estimate that is robust against single disturbed rounds. Fewer than three values have no spread.
func spread(values []float64) string {
	if len(values) < 3 {
		return ""
	}
	s := stats.Sample{Xs: values}
	return percent((s.Quantile(0.75) - s.Quantile(0.25)) / 2 / s.Quantile(0.5))
}
