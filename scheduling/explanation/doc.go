// Package explanation holds the answers about one pod, node or launch of a plan, and their JSON: the place of a pod with
// the next best places ([PodExplanation]), the resources of a node and the pods that it receives ([NodeExplanation]), and
// the reasons for the choice of a launch ([LaunchExplanation]). Explainer of package provisioning makes them.
//
// The field names of JSON are a contract. This package decides nothing.
package explanation
