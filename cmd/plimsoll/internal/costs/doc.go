// Package costs divides the price of nodes among pods, DaemonSets, the system's reservation,
// the costs of nodes beside their machines, and idle resources. Parts always add up to the
// whole, also in cents per month.
package costs
