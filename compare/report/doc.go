// Package report shows the result of a comparison: cells for tables, and a folder with a page, its plots and the numbers.
//
//	report.html    the page: self-contained, its plots inline, for light and dark screens
//	*.svg          each plot by itself
//	results.csv    one line for each measurement
//	spectrum.csv   the criteria's values of all candidates in the first repeat
//	results.json   the whole result
//
// All of it is a function of the result.
package report
