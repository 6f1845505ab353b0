package disruption

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Risk is something that a careful person asks about before a step is carried out.
type Risk struct {
	// Code names the risk, for programs.
	Code RiskCode `json:"code"`
	// Object is what it is about, as kind/namespace/name: a controller, or a pod that has none.
	Object string `json:"object"`
	// Detail says it for people.
	Detail string `json:"detail"`
}

// RiskCode names a risk of a step; the set is closed, and the names are stable.
type RiskCode string

// The risks.
const (
	RiskArchitecture  RiskCode = "architecture"   // pods may land on another CPU architecture than they leave
	RiskBarePod       RiskCode = "bare-pod"       // the pod has no controller, and is gone for good
	RiskReplicas      RiskCode = "replicas"       // several pods of a controller are away at the same time, and no PodDisruptionBudget is asked
	RiskSingleReplica RiskCode = "single-replica" // the only pod of a controller leaves, and no PodDisruptionBudget is asked
	RiskSpot          RiskCode = "spot"           // pods leave machines that nobody takes away, and may land on spot machines
	RiskVolume        RiskCode = "volume"         // a volume is detached and attached elsewhere
)

// RiskCodes returns all codes, by name.
func RiskCodes() []RiskCode {
	return []RiskCode{RiskArchitecture, RiskBarePod, RiskReplicas, RiskSingleReplica, RiskSpot, RiskVolume}
}

// machineKind is what decides about a landing: the labels that a machine may have.
type machineKind struct {
	arch string
	spot bool
}

func kindOf(labels map[string]string) machineKind {
	return machineKind{labels[corev1.LabelArchStable], labels[scheduling.CapacityTypeLabel] == string(offerings.Spot)}
}

// risks are those of a step that is about to be carried out.
func (f *frame) risks(step *Step) []Risk {
	bought := map[string][]machineKind{}
	for i := range step.Launches {
		l := &step.Launches[i]
		for j := range l.Options {
			bought[l.Name] = append(bought[l.Name], kindOf(labelsOf(f.problem, l, &l.Options[j])))
		}
	}
	type about struct {
		code           RiskCode
		object, detail string
	}
	type turn struct {
		controller string
		wave       int
	}
	pods, away := map[about]int{}, map[turn]int{}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		pod, from := f.pods[e.Pod], f.at[e.From]
		if pod == nil || from == nil || from.node == nil {
			continue
		}
		controller := controllerOf(pod)
		object := cmp.Or(controller, "pod/"+e.Pod)
		if controller == "" {
			pods[about{RiskBarePod, object, "has no controller, and is gone for good once it is evicted"}]++
		} else if step.Reason == Interrupted || len(f.guards.charges(pod)) == 0 {
			away[turn{controller, e.Wave}]++
		}
		for j := range pod.Spec.Volumes {
			if claim := pod.Spec.Volumes[j].PersistentVolumeClaim; claim != nil {
				pods[about{RiskVolume, "persistentvolumeclaim/" + namespaceOf(pod.Namespace) + "/" + claim.ClaimName, "is detached, and attached where pod " + e.Pod + " lands"}]++
			}
		}
		was, will := kindOf(from.node.Labels), bought[e.To]
		if to := f.at[e.To]; to != nil && to.node != nil {
			will = []machineKind{kindOf(to.node.Labels)}
		}
		if k := slices.IndexFunc(will, func(k machineKind) bool { return was.arch != "" && k.arch != "" && k.arch != was.arch }); k >= 0 {
			pods[about{RiskArchitecture, object, fmt.Sprintf("from %s to %s", was.arch, will[k].arch)}]++
		}
		if !was.spot && slices.ContainsFunc(will, func(k machineKind) bool { return k.spot }) {
			pods[about{RiskSpot, object, fmt.Sprintf("from %s to spot", cmp.Or(string(capacityType(from.node)), "a machine of its own"))}]++
		}
	}
	most := map[string]int{}
	for t, n := range away {
		most[t.controller] = max(most[t.controller], n)
	}
	var out []Risk
	for controller, n := range most {
		switch all := f.replicas[controller]; {
		case all == 1:
			out = append(out, Risk{RiskSingleReplica, controller, "its only pod is away until it runs again, and no PodDisruptionBudget is asked"})
		case n > 1:
			out = append(out, Risk{RiskReplicas, controller, fmt.Sprintf("%d of %d pods are away at the same time, and no PodDisruptionBudget is asked", n, all)})
		}
	}
	for a, n := range pods {
		if a.code == RiskArchitecture || a.code == RiskSpot {
			a.detail = fmt.Sprintf("%d of %d pods move %s", n, max(n, f.replicas[a.object]), a.detail)
		}
		out = append(out, Risk{a.code, a.object, a.detail})
	}
	slices.SortFunc(out, func(a, b Risk) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Detail, b.Detail))
	})
	return out
}
