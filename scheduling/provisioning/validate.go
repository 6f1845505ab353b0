package provisioning

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Validate reports every fault of the problem at once, as [*FieldErrors]; nil where
// there is none. A pod that fits nowhere is no fault, nor is a running pod whose
// node is not among Nodes. These are:
//
//   - entries that are nil, without a name, or there twice: pods (Pods and Running
//     together), nodes, DaemonSets, NodePools, claims, volumes, storage classes, CSINodes,
//     namespaces, Services and Owners;
//   - in pods and in the templates of DaemonSets: quantities that are negative or
//     too large (an int64, of millicores for CPU), requests above limits, and
//     selectors, affinities, spread constraints, tolerations and host ports that
//     the API server would refuse;
//   - constraints of DefaultSpread that kube-scheduler would refuse;
//   - running pods that name no node and have not ended;
//   - quantities of nodes that are negative or too large;
//   - in claims, volumes, storage classes and CSINodes: access modes, node affinity,
//     topologies, binding modes and limits that the API server would refuse;
//   - NodePools that Karpenter would refuse, or whose own requirements contradict
//     each other;
//   - catalogs for pools that do not exist;
//   - where there are pods to place, and pools that launch and no nodes: catalogs without
//     offerings. Requirements that leave none of these are no fault: plans warn of them.
func Validate(p *scheduling.Problem) error {
	if p == nil {
		return &scheduling.FieldErrors{Errors: []*scheduling.FieldError{{Path: "problem", Message: "is nil"}}}
	}
	_, err := validate.Read(p, nil)
	return err
}
