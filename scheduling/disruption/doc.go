// Package disruption decides which running nodes to remove or replace, in which order,
// and what that saves.
package disruption
