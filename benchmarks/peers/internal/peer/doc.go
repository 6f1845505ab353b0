// Package peer is what the planners under comparison have in common: how a run of one
// of them is started and timed, what comes out of it, and a check of the outcome that
// shares no code with any of them.
package peer
