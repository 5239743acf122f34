package results

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// The overview compares the errors of a few methods on every data set. It is drawn from the tables
// of the page, so it always agrees with them.

//go:embed overview.svg.tmpl
var overviewText string

var overviewTemplate = template.Must(template.New("overview").Parse(overviewText))

// Sizes of the overview, in the units of its view box.
const (
	overviewWidth = 760.0
	overviewLeft  = 130.0
	overviewRight = 640.0
	overviewTop   = 44.0
	overviewRow   = 22.0
	overviewHead  = 30.0
	overviewFoot  = 34.0
)

// Ends of the logarithmic axis, in percent.
const (
	overviewLeast = 0.1
	overviewMost  = 130.0
)

// Rows of the tables that the overview draws.
const (
	rowLinear  = "`linear`"
	rowPlain   = "`plain`"
	rowLearned = "`adaptive-refined`"
	rowTrees   = "*lightgbm*"
)

// overviewSections are the sections of the page, with the measure of their errors.
var overviewSections = []struct{ name, measure string }{
	{"regression", "Regression: variance left unexplained"},
	{"classes", "Classes: misclassified rows"},
}

// dataset is a column of a table of errors, in percent; NaN if not measured.
type dataset struct {
	Name                          string
	linear, plain, learned, trees float64
}

// gain is the ratio of the errors of plain and learned features.
func (d dataset) gain() float64 { return d.plain / d.learned }

// drawOverview writes the overview of a page.
func drawOverview(path, page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	svg, err := overview(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(path, svg, 0o644) //nolint:gosec // a picture of the documentation
}

// overview draws the tables of a page.
func overview(page string) ([]byte, error) {
	layout := &overviewLayout{next: overviewTop}
	for _, section := range overviewSections {
		sets, err := readErrors(page, section.name)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(sets, func(a, b dataset) int { return cmp.Compare(b.gain(), a.gain()) })
		layout.add(section.measure, sets)
	}
	var b bytes.Buffer
	if err := overviewTemplate.Execute(&b, layout.end()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readErrors reads the table of errors in a section of the page.
func readErrors(page, section string) ([]dataset, error) {
	_, body, _, err := cutSection(page, section)
	if err != nil {
		return nil, err
	}
	rows := map[string][]string{}
	for line := range strings.Lines(body) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if _, later := rows[cells[0]]; !later { // the tables after the table of errors have the same rows
			rows[cells[0]] = cells[1:]
		}
	}
	sets := make([]dataset, len(rows["method"]))
	for i, name := range rows["method"] {
		sets[i].Name = name
		for row, to := range map[string]*float64{
			rowLinear: &sets[i].linear, rowPlain: &sets[i].plain, rowLearned: &sets[i].learned, rowTrees: &sets[i].trees,
		} {
			if *to, err = readError(rows[row], i); err != nil {
				return nil, fmt.Errorf("section %q, %s of %s: %w", section, row, name, err)
			}
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("section %q has no table of errors", section)
	}
	return sets, nil
}

// readError reads the mean in a cell such as "**8.37** ± 1.13".
func readError(cells []string, at int) (float64, error) {
	if at >= len(cells) {
		return 0, errors.New("there is no such cell")
	}
	if cells[at] == none {
		return math.NaN(), nil
	}
	value, _, _ := strings.Cut(cells[at], " ")
	return strconv.ParseFloat(strings.Trim(value, "*"), 64)
}

// overviewLayout is the input of the template.
type overviewLayout struct {
	Width, Height, Left, Right, Top, Bottom float64
	Ticks                                   []overviewTick
	Heads                                   []overviewHeading
	Lines                                   []overviewLine

	next float64 // y of the next row
}

// overviewTick is a line of the grid.
type overviewTick struct {
	X    float64
	Text string
}

// overviewHeading is the heading of a section.
type overviewHeading struct {
	Y    float64
	Text string
}

// overviewLine is a data set. Positions are pointers because a method may be absent.
type overviewLine struct {
	Y                      float64
	Name                   string
	Plain, Learned, Linear float64
	Trees                  *float64
	Errors                 string
}

// add adds the data sets of a section at the bottom.
func (l *overviewLayout) add(measure string, sets []dataset) {
	l.next += overviewHead
	l.Heads = append(l.Heads, overviewHeading{l.next - overviewHead/2, measure})
	for _, d := range sets {
		line := overviewLine{
			Y: l.next, Name: d.Name, Plain: overviewX(d.plain), Learned: overviewX(d.learned), Linear: overviewX(d.linear),
			Errors: short(d.plain) + " → " + short(d.learned),
		}
		if !math.IsNaN(d.trees) {
			x := overviewX(d.trees)
			line.Trees = &x
		}
		l.Lines = append(l.Lines, line)
		l.next += overviewRow
	}
}

// end adds the axis.
func (l *overviewLayout) end() *overviewLayout {
	l.Width = overviewWidth
	l.Left = overviewLeft
	l.Right = overviewRight
	l.Top = overviewTop
	l.Bottom = l.next
	l.Height = l.Bottom + overviewFoot
	for _, percent := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
		l.Ticks = append(l.Ticks, overviewTick{overviewX(percent), strconv.FormatFloat(percent, 'g', -1, 64) + " %"})
	}
	return l
}

// overviewX is the position of an error on the axis.
func overviewX(percent float64) float64 {
	share := math.Log(percent/overviewLeast) / math.Log(overviewMost/overviewLeast)
	return math.Round(10*(overviewLeft+share*(overviewRight-overviewLeft))) / 10
}

// short formats a percentage with about two digits.
func short(percent float64) string {
	decimals := 2
	switch {
	case percent >= 10:
		decimals = 0
	case percent >= 1:
		decimals = 1
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64)
}
