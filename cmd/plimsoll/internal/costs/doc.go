// Package costs divides what nodes cost among what is on them: pods, DaemonSets, what the
// system keeps for itself, what nodes cost beside their machines, and what is idle. Parts
// always add up to the whole, also in cents per month.
package costs
