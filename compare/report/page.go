package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/internal/uplot"
)

var (
	//go:embed page.html
	pageText string
	//go:embed chart.js
	chartScript string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// page is the input of the template.
type page struct {
	Result   *compare.Result
	Summary  string
	Tables   []pageTable
	Charts   []chart
	Methods  []*compare.Method
	Facts    [][2]string
	Failures []string
	Script   template.JS
	Style    template.CSS
}

// pageTable is the comparison at one M.
type pageTable struct {
	compare.Table
	Header []string
	Rows   []pageRow
}

type pageRow struct {
	compare.Line
	Cells  []string
	Remark string
}

// html returns the page of a result.
func html(r *compare.Result) ([]byte, error) {
	p := page{
		Result: r, Summary: Describe(r), Charts: chartsOf(r), Facts: facts(r), Failures: r.Failures(),
		//nolint:gosec // files of this repository
		Script: template.JS(uplot.Script + chartScript), Style: template.CSS(uplot.Style),
	}
	for _, table := range slices.Backward(r.Tables) {
		if len(table.Lines) > 0 {
			p.Tables = append(p.Tables, tableOf(r, table))
		}
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

func tableOf(r *compare.Result, table compare.Table) pageTable {
	cells := PageCells(r, table)
	t := pageTable{Table: table, Header: cells.Header}
	for i, texts := range cells.Rows {
		line := compare.Line{Method: compare.Constant}
		if i < len(table.Lines) {
			line = table.Lines[i]
		}
		t.Rows = append(t.Rows, pageRow{line, texts, cells.Remarks[i]})
	}
	return t
}

// facts returns the rows of the table about the data and the making of the result.
func facts(r *compare.Result) [][2]string {
	d, o := r.Data, r.Options
	all := [][2]string{
		{"task", d.Task}, {"rows", fmt.Sprintf("%d training, %d test", d.TrainRows, d.TestRows)},
		{"encoded columns", fmt.Sprint(d.Dim)}, {"candidates M0", fmt.Sprint(d.Candidates)},
		{"scored rows N0", fmt.Sprint(d.SampleRows)}, {"map, distribution", fmt.Sprintf("%v, %v", o.Map, o.Distribution)},
		{"bandwidth σ (first repeat)", fmt.Sprintf("%.4g", d.Sigma)}, {
			"loss, intercept", fmt.Sprintf("%s, %t", o.Loss, o.Intercept),
		},
		{"λ grid, held-out share", fmt.Sprintf("%v, %v", o.Grid, o.HeldOut)},
		{"standardize, clip", fmt.Sprintf("%s, %v", o.Standardize, o.Clip)},
	}
	switch {
	case d.Split != "":
		all = append(all, [2]string{"split", "test rows are " + d.Split})
	case !d.FixedSplit:
		all = append(all, [2]string{
			"split", fmt.Sprintf("%v of the rows are test rows, chosen by the seed of each repeat", o.TestFraction),
		})
	}
	for _, more := range [][2]string{
		{"constant columns", strings.Join(d.Constant, ", ")}, {"unusable rows", RowsLeftOut(r)},
		{"skipped methods", strings.Join(r.MethodsLeftOut, "; ")}, {"version", r.Made.Version},
		{"made by", strings.Join(slices.DeleteFunc([]string{
			r.Made.Go, r.Made.Arithmetic, r.Made.System,
		}, func(s string) bool {
			return s == ""
		}), ", ")},
	} {
		if more[1] != "" {
			all = append(all, more)
		}
	}
	for _, use := range d.Columns {
		if use.Reason != "" {
			all = append(all, [2]string{"column " + use.Column, use.Reason})
		}
	}
	return all
}
