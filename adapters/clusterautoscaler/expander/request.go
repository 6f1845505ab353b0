package expander

import corev1 "k8s.io/api/core/v1"

// Request is a question of Cluster Autoscaler: which of these options should it carry out?
type Request struct {
	// Options are the scale-ups that the autoscaler considers, one for each node group that can take
	// pending pods.
	Options []Option
	// Templates are the nodes that groups would add, by the id of the group.
	Templates map[string]*corev1.Node
}

// Option is a scale-up of one node group, as the autoscaler's estimator computed it. The autoscaler
// carries it out with this number of nodes or not at all.
type Option struct {
	// NodeGroup is the id of the group.
	NodeGroup string
	// NodeCount is the number of nodes by which the group would grow.
	NodeCount int
	// Debug is the autoscaler's description of the group, for its log.
	Debug string
	// Pods would run on these nodes. A pod that several options place is the same object in each.
	// Name, namespace, labels, requests, host ports and the topology terms over host names are read.
	Pods []*corev1.Pod
}
