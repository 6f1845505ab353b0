// Package launches groups launches of the same offering, and unschedulable pods with the same reasons.
package launches
