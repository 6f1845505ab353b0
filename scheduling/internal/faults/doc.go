// Package faults collects the faults of an input as field errors of package scheduling, and writes the paths of their fields.
// It does not know which values are faulty.
package faults
