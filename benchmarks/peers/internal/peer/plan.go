package peer

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Plan is the outcome as a plan for the problem: a launch for each machine, with the one
// offering that it is priced at, and as unschedulable, without a reason, the pods that have no
// machine.
func (o Outcome) Plan(p scheduling.Problem) *scheduling.Plan {
	pools := map[string]*scheduling.NodePool{}
	for _, pool := range p.NodePools {
		pools[pool.Name] = pool
	}
	plan := &scheduling.Plan{Summary: scheduling.Summary{
		Pods: len(p.Pods), Placed: o.Placed(), Nodes: len(o.Machines), PricePerHour: o.Price(), LowerBoundPerHour: o.Bound, Gap: o.Gap,
	}}
	placed := map[*corev1.Pod]bool{}
	for i, m := range o.Machines {
		plan.Launches = append(plan.Launches, m.launch(fmt.Sprintf("%s-%d", m.NodePool, i), pools[m.NodePool]))
		for _, pod := range m.Pods {
			placed[pod] = true
		}
	}
	for _, pod := range p.Pods {
		if !placed[pod] {
			plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: scheduling.PodName(pod)})
		}
	}
	return plan
}

// launch buys the machine. pool is nil where there is none of its name.
func (m *Machine) launch(name string, pool *scheduling.NodePool) scheduling.Launch {
	l := scheduling.Launch{
		Name:     name,
		NodePool: m.NodePool,
		Price:    m.Offering.Price,
		Options: []scheduling.LaunchOption{{
			InstanceType: m.InstanceType, Zone: m.Offering.Zone, CapacityType: m.Offering.CapacityType,
			Price: m.Offering.Price, ReservationID: m.Offering.ReservationID, InterruptionRate: m.Offering.InterruptionRate,
		}},
		Labels: map[string]string{},
	}
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		l.Requirements = append(l.Requirements, requirements.Selector{Key: key, Operator: requirements.In, Values: []string{m.Labels[key]}})
	}
	if pool != nil {
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if value, ok := m.Labels[r.Key]; ok {
				l.Labels[r.Key] = value
			}
		}
		maps.Copy(l.Labels, pool.Spec.Template.Metadata.Labels)
		l.Taints, l.StartupTaints = pool.Spec.Template.Spec.Taints, pool.Spec.Template.Spec.StartupTaints
	}
	for _, pod := range m.Pods {
		l.Pods = append(l.Pods, scheduling.PodName(pod))
	}
	slices.Sort(l.Pods)
	return l
}
