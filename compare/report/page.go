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
	Result   *compare.Result
	Summary  string
	Verdicts []string
	Tables   []pageTable
	Figures  []pageFigure
	Methods  []*compare.Method
	Facts    [][2]string
	Failures []string
}

type pageTable struct {
	M        int
	Constant string
	Header   []string
	Rows     []pageRow
}

type pageRow struct {
	Best, Tied          bool
	Color, Name, Remark string
	Cells               []string // without name and remark
}

type pageFigure struct {
	Name, Title, Caption string
	SVG                  template.HTML
}

// HTML returns the page of a result with its figures inline.
func HTML(r *compare.Result, figures []Figure) ([]byte, error) {
	p := page{Result: r, Summary: Describe(r), Verdicts: verdicts(r), Facts: facts(r), Failures: r.Failures()}
	for _, table := range r.Tables {
		if len(table.Lines) > 0 {
			p.Tables = append(p.Tables, tableOf(r, table))
		}
	}
	for _, f := range figures {
		p.Figures = append(p.Figures, pageFigure{f.Name, f.Title, f.Caption, inline(f.SVG)})
	}
	for _, m := range compare.Methods() {
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

func tableOf(r *compare.Result, table compare.Table) pageTable {
	header, rows := Cells(r, table, Wide)
	last := len(header) - 1 // remarks, which the page has below the names
	t := pageTable{M: table.M, Constant: Constant(table), Header: header[:last]}
	for i, cells := range rows {
		t.Rows = append(t.Rows, pageRow{
			Best: table.Lines[i].Best, Tied: table.Lines[i].Tied, Color: chipColor(table.Lines[i].Method), Name: cells[0], Remark: cells[last],
			Cells: cells[1:last],
		})
	}
	return t
}

// chipColor is the colour of a method as CSS has it; ink is that of the page.
func chipColor(method string) string {
	c := styleOf(method).color
	if c == ink {
		return "currentColor"
	}
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// verdicts are what to conclude at each M.
func verdicts(r *compare.Result) []string {
	var all []string
	for _, table := range r.Tables {
		if table.Conclusion != "" {
			all = append(all, table.Conclusion)
		}
	}
	return all
}

// facts are the rows of the table about data and making.
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
	case d.PublishedSplits > 0:
		all = append(all, [2]string{"split", fmt.Sprintf("published, one of %d for each seed", d.PublishedSplits)})
	default:
		all = append(all, [2]string{"split", fmt.Sprintf("%v of the rows are test rows, chosen by the seed of each repeat", o.TestFraction)})
	}
	for _, more := range [][2]string{
		{"constant columns", list(d.Constant)}, {"columns left out", list(d.LeftOut)},
		{"version", r.Made.Version}, {"compiler, kernel", join(r.Made.Go, r.Made.Arithmetic)},
		{"system", join(r.Made.System, fmt.Sprintf("%d processors", r.Made.Processors))},
		{"seconds for splits and encoding", Seconds(r.Seconds["split"])}, {"seconds for bandwidths", Seconds(r.Seconds["bandwidth"])},
	} {
		if more[1] != "" {
			all = append(all, more)
		}
	}
	if d.Unlabelled+d.Rejected > 0 {
		all = append(all, [2]string{"rows left out", fmt.Sprintf("%d without a label, %d with values that cannot be used", d.Unlabelled, d.Rejected)})
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
	fonts    = regexp.MustCompile(`font-family:[^;"]*`)
)

// inline makes a picture part of a page: it grows with the page, and has the colours and the font of the page.
func inline(svg []byte) template.HTML {
	text := prologue.ReplaceAllString(string(svg), `<svg role="img"`)
	text = fonts.ReplaceAllString(text, "font-family:inherit")
	text = strings.NewReplacer(inkCSS, "currentColor", faintCSS, "var(--grid)", paperCSS, "none").Replace(text)
	return template.HTML(text) //nolint:gosec // our own drawing; its texts were escaped by the SVG writer
}
