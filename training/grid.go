package training

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Grid is the set of λ from which Train chooses. Its text form (JSON, YAML, flags) is "relative",
// "paper" or a comma-separated list of numbers. The zero value is the relative grid.
type Grid struct {
	kind    gridKind
	lambdas []float64 // explicit grids: ascending, distinct
	step    int       // of the levels only every step-th is tried, from the largest down; 0 = all
}

type gridKind uint8

const (
	gridRelative gridKind = iota
	gridPaper
	gridExplicit
)

// Levels of the relative grid are powers of ten. The grid continues below the lowest regular level
// while the best λ is at its lower edge. A λ that would be lost in the rounding of the sums is
// raised.
const (
	relativeLowest   = -8
	relativeHighest  = 2
	relativeExtended = -10
	paperLowest      = -5
	paperHighest     = 5
)

// RelativeGrid is λ = ℓ·(mean diagonal of the centred second moment of z), ℓ in {1e-8, …, 1e2} by
// decades, extended to 1e-10 while the best is at the lower edge. It follows the scale of the
// features.
func RelativeGrid() Grid { return Grid{} }

// PaperGrid is λ in {1e-5, …, 1e5} by decades, absolute: the grid of Shahrampour, Beirami and
// Tarokh (AAAI 2018). On features scaled by 1/√M it is coarse at its lower end.
func PaperGrid() Grid { return Grid{kind: gridPaper} }

// ExplicitGrid is a list of absolute λ in any order. Validate reports an empty list and values that
// are negative or not finite. λ = 0 stands for the smallest λ that is not lost in the rounding of
// the sums. Its solution is nearly the least-squares solution of the smallest norm.
func ExplicitGrid(lambdas ...float64) Grid {
	sorted := slices.Clone(lambdas)
	slices.Sort(sorted)
	return Grid{kind: gridExplicit, lambdas: slices.Compact(sorted)}
}

// ParseGrid reads the text form of a grid; the empty text is the relative grid.
func ParseGrid(text string) (Grid, error) {
	switch strings.TrimSpace(text) {
	case "", "relative":
		return RelativeGrid(), nil
	case "paper":
		return PaperGrid(), nil
	}
	var lambdas []float64
	for field := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return Grid{}, fmt.Errorf("parse lambda grid %q: want \"relative\", \"paper\" or numbers separated by commas", text)
		}
		lambdas = append(lambdas, v)
	}
	g := ExplicitGrid(lambdas...)
	return g, g.Validate()
}

// Validate reports every unusable λ.
func (g Grid) Validate() error {
	if g.kind != gridExplicit {
		return nil
	}
	if len(g.lambdas) == 0 {
		return errors.New("lambda grid is empty")
	}
	var faults []error
	for _, v := range g.lambdas {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			faults = append(faults, fmt.Errorf("lambda %v in the grid: want a finite number >= 0", v))
		}
	}
	return errors.Join(faults...)
}

// String returns the text form.
func (g Grid) String() string {
	switch g.kind {
	case gridPaper:
		return "paper"
	case gridExplicit:
		texts := make([]string, len(g.lambdas))
		for i, v := range g.lambdas {
			texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		return strings.Join(texts, ",")
	case gridRelative:
	}
	return "relative"
}

// MarshalText implements encoding.TextMarshaler.
func (g Grid) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *Grid) UnmarshalText(text []byte) error {
	parsed, err := ParseGrid(string(text))
	if err != nil {
		return err
	}
	*g = parsed
	return nil
}

// relative reports whether levels are multiples of the scale of the features.
func (g Grid) relative() bool { return g.kind == gridRelative }

// leastLevels is the number of levels that every budget allows.
const leastLevels = 3

// thinned returns the grid with at most a number of levels, from the largest to about the smallest.
func (g Grid) thinned(most int) Grid {
	most = max(most, leastLevels)
	if all := len(g.allLevels()); all > most {
		g.step = (all + most - 1) / most
	}
	return g
}

// levels returns the levels that are always tried, ascending.
func (g Grid) levels() []float64 {
	all := g.allLevels()
	if g.step == 0 {
		return all
	}
	var kept []float64
	for i := len(all) - 1; i >= 0; i -= g.step {
		kept = append(kept, all[i])
	}
	slices.Reverse(kept)
	return kept
}

func (g Grid) allLevels() []float64 {
	switch g.kind {
	case gridPaper:
		return decades(paperLowest, paperHighest)
	case gridExplicit:
		return g.lambdas
	case gridRelative:
	}
	return decades(relativeLowest, relativeHighest)
}

// below returns the additional levels, descending. They are tried one by one while the best level
// is the lowest so far.
func (g Grid) below() []float64 {
	if !g.relative() || g.step > 0 {
		return nil
	}
	extra := decades(relativeExtended, relativeLowest-1)
	slices.Reverse(extra)
	return extra
}

// decades returns 10^low, …, 10^high.
func decades(low, high int) []float64 {
	var powers []float64
	for e := low; e <= high; e++ {
		powers = append(powers, math.Pow10(e))
	}
	return powers
}
