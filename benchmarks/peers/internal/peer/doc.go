// Package peer is the common interface of the planners under comparison: a run that is
// started and timed, its outcome, and a check of the outcome that shares no code with any
// planner.
package peer
