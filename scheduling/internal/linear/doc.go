// Package linear solves the small linear programs of the search: which machines, or which patterns of pods, to
// buy in fractions so that every demand is covered at the least cost ([Cover]), and in whole numbers by branch
// and bound on such programs ([Whole]).
//
// It works in floating point. Its solutions and duals are suggestions for callers that check in whole numbers;
// it proves no bound. Programs have few rows and up to thousands of columns.
package linear
