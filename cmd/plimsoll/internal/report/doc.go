// Package report puts a plan of disruption and the cluster that it is for into one report for
// whoever pays the bill: what the cluster costs and could cost, what fills its nodes before
// and after the steps, where the money goes, and what stands in the way of spending less.
//
// [Of] works out the values once; [Report.HTML], [Report.Markdown] and [Report.SVG] render them,
// and as JSON they are the report, too.
package report
