// Package replay has a cluster with a Karpenter that does what a test says, for tests of the shadow: a [World] tells of its
// objects as they change.
package replay
