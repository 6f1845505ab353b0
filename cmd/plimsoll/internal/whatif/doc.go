// Package whatif says what a cluster comes to under other settings than today's: each case is
// planned by the same steps, so that their prices can be compared.
package whatif
