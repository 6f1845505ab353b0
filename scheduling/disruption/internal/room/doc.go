// Package room packs pods into the free capacity of nodes by their requests, and chooses which nodes to keep when the
// pods of all others move there. Its caller says on which nodes a pod may run. It knows neither rules between pods nor
// budgets nor the order of steps.
package room
