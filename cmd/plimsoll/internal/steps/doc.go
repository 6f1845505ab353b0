// Package steps sums up plans that disrupt nodes: what stays and why, and where steps stop paying.
package steps
