package results

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/lab/methods"
)

// none fills a cell without a number.
const none = "–"

// tables returns the tables of the sets.
func tables(sets []*set, trees *trees) string {
	var b strings.Builder
	writeFacts(&b, sets)
	writeErrors(&b, sets, trees)
	return b.String()
}

// row writes a line of a Markdown table.
func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// head writes the header of a table whose first column is text.
func head(w io.Writer, cells ...string) {
	row(w, cells...)
	fmt.Fprintf(w, "| --- |%s\n", strings.Repeat(" ---: |", len(cells)-1))
}

// eachSet returns a row: a first cell, then one cell per set.
func eachSet(sets []*set, first string, cell func(*set) string) []string {
	cells := []string{first}
	for _, s := range sets {
		cells = append(cells, cell(s))
	}
	return cells
}

func writeFacts(w io.Writer, sets []*set) {
	head(w, eachSet(sets, "", func(s *set) string { return s.Data.Name })...)
	row(w, eachSet(sets, "rows for training, testing", func(s *set) string {
		return fmt.Sprintf("%d, %d", s.Data.TrainRows, s.Data.TestRows)
	})...)
	row(w, eachSet(sets, "d", func(s *set) string { return strconv.Itoa(s.Data.Dim) })...)
	row(w, eachSet(sets, "M, M0, N0", func(s *set) string {
		return fmt.Sprintf("%d, %d, %d", s.table.M, s.Data.Candidates, s.Data.SampleRows)
	})...)
	row(w, eachSet(sets, "repeats", (*set).repeats)...)
	fmt.Fprintln(w)
}

// repeats returns the number of repeats of the methods, then the number for learned methods if it
// differs.
func (s *set) repeats() string {
	var counts []string
	for _, name := range methodsOf([]*set{s}) {
		if n := strconv.Itoa(s.line(name).Repeats); !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	return strings.Join(counts, ", ")
}

// methodsOf returns the methods of the sets in registry order.
func methodsOf(sets []*set) []string {
	return slices.DeleteFunc(methodNames(), func(name string) bool {
		return !slices.ContainsFunc(sets, func(s *set) bool { return s.line(name) != nil })
	})
}

// methodNames are the names of all methods, in the order of the tables.
func methodNames() []string {
	var names []string
	for _, m := range (compare.Options{More: methods.All()}).Known() {
		names = append(names, m.Name)
	}
	return names
}

func writeErrors(w io.Writer, sets []*set, trees *trees) {
	head(w, eachSet(sets, "method", func(s *set) string { return s.Data.Name })...)
	for _, name := range methodsOf(sets) {
		row(w, eachSet(sets, "`"+name+"`", func(s *set) string {
			if s.line(name) == nil {
				return none
			}
			text := number(s.mean(name), s.digits())
			if s.amongBest(name) {
				value, se, found := strings.Cut(text, " ± ")
				text = "**" + value + "**"
				if found {
					text += " ± " + se
				}
			}
			return text
		})...)
	}
	for _, name := range trees.methods() {
		row(w, eachSet(sets, "*"+name+"*", func(s *set) string {
			if sizes := trees.sizes(s.Data.Name, name); len(sizes) > 0 {
				return number(sizes[len(sizes)-1].error, s.digits())
			}
			return none
		})...)
	}
}

// pairs returns the errors of a method minus the errors of another, for the repeats that both have.
func (s *set) pairs(method, other string) []float64 {
	var diffs []float64
	for repeat, v := range s.errors[method] {
		if o, ok := s.errors[other][repeat]; ok {
			diffs = append(diffs, v-o)
		}
	}
	slices.Sort(diffs) // sums must not depend on map order
	return diffs
}

// amongBest reports whether a method has the smallest mean error, or exceeds it by at most two
// standard errors of the paired differences.
func (s *set) amongBest(method string) bool {
	best := ""
	for _, name := range methodNames() {
		if s.line(name) != nil && (best == "" || s.mean(name).value < s.mean(best).value) {
			best = name
		}
	}
	d := meanOf(s.pairs(method, best))
	return d.n < 2 || d.value <= 2*d.error
}

// mean is the mean error of a method.
func (s *set) mean(method string) mean {
	var values []float64
	for _, v := range s.errors[method] {
		values = append(values, v)
	}
	slices.Sort(values)
	return meanOf(values)
}

// digits returns the number of decimals for the errors of a set: two, or enough for two significant
// digits of the smallest error.
func (s *set) digits() int {
	least := math.Inf(1)
	for name := range s.errors {
		if v := s.mean(name).value; v > 0 {
			least = min(least, v)
		}
	}
	digits := 2
	for ; least < 1 && digits < 4; least *= 10 {
		digits++
	}
	return digits
}

func number(m mean, digits int) string {
	if m.value >= 1000 {
		digits = 0
	}
	if m.n < 2 {
		return fmt.Sprintf("%.*f", digits, m.value)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, m.value, digits, m.error)
}
