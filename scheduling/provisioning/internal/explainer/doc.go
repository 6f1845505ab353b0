// Package explainer answers questions about one pod, node or launch of a plan. Package explain gives the reasons, and package
// simulation the nodes to which kube-scheduler would bind the pods.
package explainer
