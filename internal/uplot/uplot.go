// Package uplot holds uPlot, the charting library of the status page and of reports, as published.
package uplot

import "embed"

// Files are the library and its licence: uPlot.esm.js, uPlot.min.css, LICENSE, and README.md with
// their checksums.
//
//go:embed uPlot.esm.js uPlot.min.css LICENSE README.md
var Files embed.FS

// Script is the library as an ES module, Style its style sheet.
var (
	//go:embed uPlot.esm.js
	Script string
	//go:embed uPlot.min.css
	Style string
)
