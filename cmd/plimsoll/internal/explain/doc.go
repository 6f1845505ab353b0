// Package explain answers questions about pods, workloads and machines of a plan.
package explain
