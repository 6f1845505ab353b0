// Package wave divides the evictions of a step into waves. The pods of a wave are away at the same time; the next wave
// leaves when they run again.
//
// It owns the order of evictions within a step, and promises that no PodDisruptionBudget loses more pods at the same time
// than it allows, and that each pod can be scheduled where it is expected when it leaves. It does not know where pods are
// expected best, nor whether the step is worth it.
package wave
