// Package steps summarises consolidation plans: which nodes stay and why, and after which step the savings no longer pay
// for the disruption.
package steps
