package spotshare

import (
	"cmp"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Planned returns the shares of the policies once a plan is carried out, in the order of their names; nil without policies.
func (d *Division) Planned(plan *scheduling.Plan) []scheduling.SpotShare {
	if d == nil {
		return nil
	}
	places := map[types.NamespacedName]scheduling.Placement{}
	for pod, at := range plan.Placements() {
		places[pod] = at
	}
	spotNodes := SpotNodes(d.Problem.Nodes)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		if slices.ContainsFunc(l.Options, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.Spot }) {
			spotNodes[launchPrefix+l.Name] = true
		}
	}
	return d.Count(spotNodes, func(pod *corev1.Pod) string {
		at := places[podspec.PodKey(pod)]
		if at.Launch != nil {
			return launchPrefix + at.Launch.Name
		}
		return cmp.Or(at.Node, pod.Spec.NodeName)
	})
}

// launchPrefix begins the names of launches among those of nodes; no node's name has a slash.
const launchPrefix = "launch/"

// Count returns the shares of the policies with each pod on the node that nodeOf returns, "" for none; nil without policies.
// spotNodes are the spot nodes by name.
func (d *Division) Count(spotNodes map[string]bool, nodeOf func(*corev1.Pod) string) []scheduling.SpotShare {
	if d == nil {
		return nil
	}
	shares := slices.Clone(d.shares)
	for i := range shares {
		for _, pod := range d.pods[i] {
			switch node := nodeOf(pod); {
			case node == "":
			case spotNodes[node]:
				shares[i].Spot++
			default:
				shares[i].OnDemand++
			}
		}
	}
	return shares
}

// SpotNodes are the spot nodes of a list, by name.
func SpotNodes(nodes []*corev1.Node) map[string]bool {
	out := map[string]bool{}
	for _, node := range lo.Compact(nodes) {
		if node.Labels[offerings.CapacityTypeLabel] == string(offerings.Spot) {
			out[node.Name] = true
		}
	}
	return out
}

// SelectNothing warns of policies that select no pod, e.g. because a label is misspelt.
func SelectNothing(shares []scheduling.SpotShare) (out []scheduling.Warning) {
	for i := range shares {
		if shares[i].Pods == 0 {
			out = append(out, scheduling.Warning{Object: "SpotPolicy/" + shares[i].Policy, Message: "selects no pod; is podSelector or a namespace misspelt?"})
		}
	}
	return out
}
