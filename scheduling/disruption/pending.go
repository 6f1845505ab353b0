package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Pending is what becomes of the cluster's pods that have no node yet, before any step. Steps neither move
// them nor count what they cost: they are a provisioner's, and those that find a node among those that are
// there have their room on it.
type Pending struct {
	// Pods is how many they are, Existing how many fit on nodes that are there.
	Pods     int `json:"pods"`
	Existing int `json:"existing,omitempty"`
	// Launched is how many need nodes that have to be launched, Launches how many nodes that takes.
	Launched int `json:"launched,omitempty"`
	Launches int `json:"launches,omitempty"`
	// Gated is how many scheduling gates hold back.
	Gated int `json:"gated,omitempty"`
	// Unschedulable are the others, by name: no node takes them, and no NodePool can launch one that does.
	// [github.com/plimsoll-go/plimsoll/scheduling/provisioning.Planner.Plan] says why.
	Unschedulable []string `json:"unschedulable,omitempty"`
}

// pendingPods reads what a plan for all pods that wait says of those of the cluster that have no node; nil if there are none.
// The others are pods of nodes that are being removed.
func (f *state) pendingPods(plan *scheduling.Plan) *Pending {
	pods := map[string]*corev1.Pod{}
	for _, list := range [][]*corev1.Pod{f.cluster.Pods, f.cluster.Running} {
		for _, pod := range list {
			if podspec.Pending(pod) {
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
