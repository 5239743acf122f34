// Package report presents the result of a comparison as tables, a web page with charts, and files
// for other programs.
//
//	report.html   the page, self-contained
//	results.json  everything
//
// Everything but the seconds is a function of the result.
package report
