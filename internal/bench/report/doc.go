// Package report turns what a run has measured into figures that can be
// compared: medians of passes, multiples of the yardstick taken pass by pass,
// their spread, and the table.
//
// What never lives here: what is measured, or how.
//
// Read report.go first, then statistics.go, then markdown.go.
package report
