package duel

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Broken are the rules that the machines of an outcome break, by the code that verify
// has for each, and what it says about the first pod or machine that breaks it. Rules
// about what a plan of ours has to tell beyond where pods go are not asked.
func Broken(p scheduling.Problem, o peer.Outcome, solver scheduling.Solver) map[verify.Code]string {
	var report *verify.Report
	err := verify.Checker{Solver: solver}.Plan(p, planOf(p, o))
	broken := map[verify.Code]string{}
	if len(o.Impossible) > 0 {
		broken[verify.NoOptions] = o.Impossible[0]
	}
	if !errors.As(err, &report) {
		return broken
	}
	for _, v := range report.Violations {
		if _, ok := broken[v.Code]; !ok && about(v.Code) {
			broken[v.Code] = v.Error()
		}
	}
	return broken
}

// about is whether a rule is about what is bought and where pods go.
func about(c verify.Code) bool {
	switch c {
	case verify.PodDuplicated, verify.PodUnknown, verify.PodNotPending, verify.PodHeld, verify.WeightIgnored,
		verify.PoolUnknown, verify.PoolClosed, verify.Limits, verify.Reservation,
		verify.TypeUnknown, verify.OfferingUnknown, verify.OfferingUnavailable, verify.PoolRequirements, verify.LaunchLabels,
		verify.NodeAffinity, verify.Taints, verify.HostPorts, verify.Resources,
		verify.Volume, verify.VolumeApart, verify.VolumeGone, verify.VolumeInUse, verify.AttachLimit,
		verify.TopologySpread, verify.PodAffinity, verify.PodAntiAffinity:
		return true
	}
	return false
}

// planOf is the outcome as a plan, as far as the rules that are asked read it.
func planOf(p scheduling.Problem, o peer.Outcome) *scheduling.Plan {
	pools := map[string]*scheduling.NodePool{}
	for _, pool := range p.NodePools {
		pools[pool.Name] = pool
	}
	plan := &scheduling.Plan{}
	placed := map[*corev1.Pod]bool{}
	for i, m := range o.Machines {
		launch := scheduling.Launch{
			Name:     fmt.Sprintf("%s-%d", m.NodePool, i),
			NodePool: m.NodePool,
			Price:    m.Offering.Price,
			Options: []scheduling.Option{{
				InstanceType: m.InstanceType, Zone: m.Offering.Zone, CapacityType: m.Offering.CapacityType,
				Price: m.Offering.Price, ReservationID: m.Offering.ReservationID, InterruptionRate: m.Offering.InterruptionRate,
			}},
			Labels: map[string]string{},
		}
		if pool := pools[m.NodePool]; pool != nil {
			for _, r := range pool.Spec.Template.Spec.Requirements {
				if value, ok := m.Labels[r.Key]; ok {
					launch.Labels[r.Key] = value
				}
			}
			maps.Copy(launch.Labels, pool.Spec.Template.Metadata.Labels)
			launch.Taints, launch.StartupTaints = pool.Spec.Template.Spec.Taints, pool.Spec.Template.Spec.StartupTaints
		}
		for _, pod := range m.Pods {
			placed[pod] = true
			launch.Pods = append(launch.Pods, name(pod))
		}
		slices.Sort(launch.Pods)
		plan.Launches = append(plan.Launches, launch)
	}
	for _, pod := range p.Pods {
		if !placed[pod] {
			plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: name(pod)})
		}
	}
	return plan
}

// name is the pod as plans name it.
func name(pod *corev1.Pod) string {
	return cmp.Or(pod.Namespace, corev1.NamespaceDefault) + "/" + pod.Name
}
