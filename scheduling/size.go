package scheduling

import (
	corev1 "k8s.io/api/core/v1"
)

// NodeSize bounds the nodes that may be launched, whatever NodePools allow. Both ends are
// inclusive, and are compared with the capacity that the catalog states, i.e. with status.capacity
// of the node, system and daemons included. Resources that are missing are not bounded; the zero
// value bounds none. Existing nodes may have any size.
type NodeSize struct {
	// Smallest and Largest hold quantities of cpu and memory above 0; other resources
	// are an error, and so is a Smallest above the Largest.
	Smallest corev1.ResourceList
	Largest  corev1.ResourceList
}
