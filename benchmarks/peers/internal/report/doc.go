// Package report shows what planners made of instances, as Markdown, and says which promises of
// the library the figures break.
package report
