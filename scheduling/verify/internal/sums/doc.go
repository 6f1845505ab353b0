// Package sums judges the figures that the summary of a launch plan and that of a consolidation plan share: counts, prices,
// and the lower bound with its gap and status. It is told the right values, and does not know how they come about.
package sums
