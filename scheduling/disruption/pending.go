package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Pending counts the cluster's pods that have no node yet, before any step: real ones, or virtual ones. Steps neither move them
// nor count their price, because a provisioner launches their nodes. Room on existing nodes is reserved for those that fit there.
type Pending struct {
	// Pods is their number, Existing the number of those that fit on existing nodes.
	Pods     int `json:"pods"`
	Existing int `json:"existing,omitempty"`
	// Launched is the number of those that need a launch, Launches the number of these launches.
	Launched int `json:"launched,omitempty"`
	Launches int `json:"launches,omitempty"`
	// Gated is the number of those with scheduling gates.
	Gated int `json:"gated,omitempty"`
	// Unschedulable are the others, by name: they fit on no node, and on no node that a NodePool can launch.
	// [github.com/plimsoll-go/plimsoll/scheduling/provisioning.Planner.Plan] has the reasons, and the changes that would place them.
	Unschedulable []string `json:"unschedulable,omitempty"`
}

// pendingPods counts the pods of the cluster that have no node in a plan for all pending pods, of virtual pods or of real ones; nil if
// there are none. Pods of nodes that are being removed are in the plan as well, and are not counted.
func pendingPods(c *Cluster, plan *session.Answer, virtual bool) *Pending {
	pods := map[string]*corev1.Pod{}
	for _, list := range [][]*corev1.Pod{c.Pods, c.Running} {
		for _, pod := range list {
			if podspec.Pending(pod) && scheduling.IsVirtual(pod) == virtual {
				pods[podspec.PodName(pod)] = pod
			}
		}
	}
	if len(pods) == 0 {
		return nil
	}
	count := func(names []string) (n int) {
		for _, name := range names {
			if pods[name] != nil {
				n++
			}
		}
		return n
	}
	out := &Pending{Pods: len(pods)}
	for i := range plan.Existing {
		out.Existing += count(plan.Existing[i].Pods)
	}
	for i := range plan.Launches {
		if n := count(plan.Launches[i].Pods); n > 0 {
			out.Launched, out.Launches = out.Launched+n, out.Launches+1
		}
	}
	for i := range plan.Unschedulable {
		switch pod := pods[plan.Unschedulable[i].Pod]; {
		case pod == nil:
		case len(pod.Spec.SchedulingGates) > 0:
			out.Gated++
		default:
			out.Unschedulable = append(out.Unschedulable, plan.Unschedulable[i].Pod)
		}
	}
	return out
}
