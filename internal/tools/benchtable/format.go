package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

// columnName returns the column title of a unit.
func columnName(unit string) string {
	switch unit {
	case "of-peak":
		return "of peak"
	case "allocs/op":
		return "allocations"
	}
	return strings.Replace(unit, "sec/", "time/", 1)
}

// cell formats the median of a unit's rounds, "" without rounds.
func (l *line) cell(unit string) string {
	if len(l.round[unit]) == 0 {
		return ""
	}
	v := l.median(unit)
	switch {
	case strings.HasPrefix(unit, "sec"):
		return scaled(v) + "s"
	case unit == "allocs/op":
		return fmt.Sprintf("%.0f", v)
	case unit == "of-peak" || unit == "ratio":
		return fmt.Sprintf("%.2f", v)
	case v >= 1000:
		return scaled(v)
	}
	return threeDigits(v)
}

// scaled formats v with an SI prefix: 0.0123 is "12.3 m".
func scaled(v float64) string {
	scaler := benchunit.CommonScale([]float64{v}, benchunit.Decimal)
	return threeDigits(v/scaler.Factor) + " " + scaler.Prefix
}

// threeDigits formats v with at least three digits.
func threeDigits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// isNumber reports whether a cell begins with a number.
func isNumber(cell string) bool {
	number, _, _ := strings.Cut(cell, " ")
	_, err := strconv.ParseFloat(number, 64)
	return err == nil
}
