package scheduling

import (
	corev1 "k8s.io/api/core/v1"
)

// NodeSize bounds the machines that may be bought, whatever NodePools allow. Both ends
// count, and are compared with the whole capacity that the catalog states, daemons and
// system included: what the node will report as its capacity. Resources that are not
// named are not bounded; the zero value bounds none. Nodes that are there already may
// have any size.
type NodeSize struct {
	// Smallest and Largest hold quantities of cpu and memory above 0; other resources
	// are an error, and so is a Smallest above the Largest.
	Smallest corev1.ResourceList
	Largest  corev1.ResourceList
}
