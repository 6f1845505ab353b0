// Package whatif plans a cluster under other settings than today's. All cases are planned by the same
// steps, because their prices must be comparable.
package whatif
