package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/compare"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Result        *compare.Result
	Summary       string
	Verdict       string
	Tables        []pageTable
	Figures, More []pageFigure
	Methods       []*compare.Method
	Facts         [][2]string
	Failures      []string
}

type pageTable struct {
	M        int
	Constant string
	Verdict  string // if it differs from that of the page
	Header   []string
	Rows     []pageRow
}

type pageRow struct {
	Best, Tied          bool
	Color, Name, Remark string
	Cells               []pageCell // without name and remark
}

// pageCell includes its title, for screens where it is not below that. Error is the standard error, "" if there is
// none.
type pageCell struct{ Title, Text, Error string }

type pageFigure struct {
	Name, Title, Caption string
	SVG                  template.HTML
}

// HTML returns the page of a result with its figures inline.
func HTML(r *compare.Result, figures []Figure) ([]byte, error) {
	p := page{Result: r, Summary: Describe(r), Facts: facts(r), Failures: r.Failures()}
	p.tables(r)
	for _, f := range figures {
		of := &p.More
		if f.Main {
			of = &p.Figures
		}
		*of = append(*of, pageFigure{f.Name, f.Title, f.Caption, inline(f.SVG)})
	}
	for _, m := range r.Options.Known() {
		if slices.Contains(r.Options.Methods, m.Name) {
			p.Methods = append(p.Methods, m)
		}
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("make report page: %w", err)
	}
	return out.Bytes(), nil
}

// tables adds the tables, the largest M first; its verdict is that of the page.
func (p *page) tables(r *compare.Result) {
	for _, table := range slices.Backward(r.Tables) {
		if len(table.Lines) == 0 {
			continue
		}
		t := tableOf(r, table)
		if len(p.Tables) == 0 {
			p.Verdict, t.Verdict = unbroken.Replace(t.Verdict), ""
		}
		p.Tables = append(p.Tables, t)
	}
}

// unbroken keeps numbers and their units on one line.
var unbroken = strings.NewReplacer(" %", "\u00a0%", " s ", "\u00a0s ", " s,", "\u00a0s,", " s)", "\u00a0s)", " µs", "\u00a0µs")

func tableOf(r *compare.Result, table compare.Table) pageTable {
	cells := PageCells(r, table)
	t := pageTable{M: table.M, Constant: Constant(table), Verdict: table.Verdict(), Header: cells.Header}
	for i, texts := range cells.Rows {
		l := table.Lines[i]
		row := pageRow{Best: l.Best, Tied: l.Tied, Color: chipColor(l.Method), Name: texts[0], Remark: cells.Remarks[i]}
		for j, text := range texts[1:] {
			row.Cells = append(row.Cells, cellOf(cells.Header[j+1], text))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// cellOf takes the standard error out of a cell; a star stays with the number.
func cellOf(title, text string) pageCell {
	number, deviation, found := strings.Cut(text, " ± ")
	if !found {
		return pageCell{Title: title, Text: text}
	}
	if bare, starred := strings.CutSuffix(deviation, "*"); starred {
		number, deviation = number+"*", bare
	}
	return pageCell{title, number, deviation}
}

// chipColor is the colour of a method in CSS; ink is that of the page.
func chipColor(method string) string {
	c := styleOf(method).color
	if c == ink {
		return "currentColor"
	}
	return colorCSS(c)
}

// facts are the rows of the table about the data and how the result was made.
func facts(r *compare.Result) [][2]string {
	d, o := r.Data, r.Options
	all := [][2]string{
		{"task", d.Task}, {"rows", fmt.Sprintf("%d training, %d test", d.TrainRows, d.TestRows)},
		{"encoded columns", fmt.Sprint(d.Dim)}, {"candidates M0", fmt.Sprint(d.Candidates)},
		{"scored rows N0", fmt.Sprint(d.SampleRows)}, {"map, distribution", fmt.Sprintf("%v, %v", o.Map, o.Distribution)},
		{"bandwidth σ (first repeat)", fmt.Sprintf("%.4g", d.Sigma)}, {"loss, intercept", fmt.Sprintf("%s, %t", o.Loss, o.Intercept)},
		{"λ grid, held-out share", fmt.Sprintf("%v, %v", o.Grid, o.HeldOut)},
		{"standardize, clip", fmt.Sprintf("%s, %v", o.Standardize, o.Clip)},
	}
	switch {
	case d.FixedSplit:
		all = append(all, [2]string{"split", "test rows of their own, the same in every repeat"})
	default:
		all = append(all, [2]string{"split", fmt.Sprintf("%v of the rows are test rows, chosen by the seed of each repeat", o.TestFraction)})
	}
	for _, more := range [][2]string{
		{"constant columns", list(d.Constant)}, {"columns left out", list(d.LeftOut)},
		{"rows left out", RowsLeftOut(r)}, {"methods left out", strings.Join(r.MethodsLeftOut, "; ")},
		{"version", r.Made.Version}, {"compiler, kernel", join(r.Made.Go, r.Made.Arithmetic)},
		{"system", join(r.Made.System, fmt.Sprintf("%d processors", r.Made.Processors))},
		{"seconds for splits and encoding", Seconds(r.Seconds["split"])}, {"seconds for bandwidths", Seconds(r.Seconds["bandwidth"])},
	} {
		if more[1] != "" {
			all = append(all, more)
		}
	}
	return all
}

// list writes the first of some names.
func list(names []string) string {
	const most = 12
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

var (
	prologue = regexp.MustCompile(`(?s)^.*?<svg width="[^"]*" height="[^"]*"`)
	fonts    = regexp.MustCompile(`font-family(:|=")[^;"]*`)
)

// inline makes a picture part of a page: it scales with the page, and has its colours and font.
func inline(svg []byte) template.HTML {
	text := prologue.ReplaceAllString(string(svg), `<svg role="img"`)
	text = fonts.ReplaceAllString(text, "font-family${1}inherit")
	text = strings.NewReplacer(inkCSS, "currentColor", faintCSS, "var(--grid)", paperCSS, "none", bestCSS, "var(--best)").Replace(text)
	return template.HTML(text) //nolint:gosec // our own drawing; its texts were escaped by the SVG writer
}
