// Package buffers makes virtual pods, which keep room free for real ones: those of a CapacityBuffer
// (autoscaling.x-k8s.io), and those of a share or an amount of a cluster or of a NodePool ([Headroom]).
//
// A virtual pod is a pod of the lowest priority in [github.com/plimsoll-go/plimsoll/scheduling.Problem.Pods]. Planners treat
// it as any other pod: it uses room on existing nodes first, a node is launched for it where there is none, and it never
// takes the place of a real pod. kube-scheduler does not know of it, so that real pods are bound to its room at once; the next
// plan, with the same virtual pods, restores the room. Steps of package disruption move the room as they move pods, and leave it
// whole, and lower bounds are of clusters with the room. What only a pod that runs has is left out: disruption costs,
// PodDisruptionBudgets, SpotPolicies, and the counts of topology terms when kube-scheduler binds a real pod.
package buffers
