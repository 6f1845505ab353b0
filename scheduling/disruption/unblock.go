package disruption

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/budget"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// unblocked is the planner and the cluster with settings and objects changed so that a cause holds no node, and the
// changes of objects, by object. It reports false if no change removes the cause.
func unblocked(f *state, p Planner, c Cluster, o *blockedCause) (Planner, Cluster, []ObjectChange, bool) {
	u := &unblocking{planner: p, cluster: c, held: o.nodes, state: f, changes: map[string]string{}}
	done := u.byCode(o.Code)
	changes := []ObjectChange{}
	for _, object := range slices.Sorted(maps.Keys(u.changes)) {
		changes = append(changes, ObjectChange{object, u.changes[object]})
	}
	return u.planner, u.cluster, changes, done || len(changes) > 0
}

// unblocking changes settings and objects so that a cause does not hold its nodes.
type unblocking struct {
	planner Planner
	cluster Cluster
	held    []*candidate
	state   *state            // of the unchanged cluster
	changes map[string]string // by object
}

// byCode makes the changes for a cause. It reports whether it has changed settings of the planner, or machines.
func (u *unblocking) byCode(code CauseCode) bool {
	none := scheduling.NillableDuration{Duration: new(time.Duration(0))}
	//exhaustive:enforce
	switch code {
	case CauseDoNotDisrupt:
		u.leaveAnnotationsOut()
	case CauseBudget:
		u.letOneGo()
	case CausePoolBudget:
		u.relaxPoolBudgets()
	case CausePolicy:
		u.policy(&none)
	case CauseScore:
		u.changePools("set spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized", func(p *scheduling.NodePool) {
			p.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
		})
	case CauseTooSoon:
		u.changePools("set spec.disruption.consolidateAfter to 0s", func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidateAfter = &none })
		u.planner.MinLifetime = 0
	case CauseStatic:
		u.releaseReplicas(&none)
	case CauseMinValues:
		u.changePools("leave minValues out of spec.template.spec.requirements", func(p *scheduling.NodePool) {
			for i := range p.Spec.Template.Spec.Requirements {
				p.Spec.Template.Spec.Requirements[i].MinValues = nil
			}
		})
	case CauseMinNodes:
		return u.releaseMachines()
	case CauseUnmanagedPod:
		u.planner.KeepBarePods = false
		return true
	case CauseSmallSaving:
		u.planner.MinSaving = Saving{}
		return true
	case CauseFewSpotTypes:
		u.planner.SpotToSpotTypes = 1
		return true
	case CauseStepsLimit:
		u.planner.MaxSteps = 0
		return true
	case CauseNoNodePool, CauseNoTypes, CauseNotReady, CauseBeingRemoved, CauseNominated, CauseUnknownPrice: // no setting lifts them
	case CauseNoPlace, CauseNoSaving, CauseNeededForPods, CauseDeadline, CauseReasonNotSelected, CauseSearch: // they count as CauseSearch
	}
	return false
}

// changePools changes the NodePools of the nodes.
func (u *unblocking) changePools(to string, change func(*scheduling.NodePool)) {
	u.cluster.NodePools = slices.Clone(u.cluster.NodePools)
	for i, pool := range u.cluster.NodePools {
		if slices.ContainsFunc(u.held, func(s *candidate) bool { return s.pool.pool.Name == pool.Name }) {
			own := pool.DeepCopy()
			change(own)
			u.cluster.NodePools[i], u.changes["nodepool/"+pool.Name] = own, to
		}
	}
}

// policy lets NodePools be consolidated.
func (u *unblocking) policy(none *scheduling.NillableDuration) {
	const policy, after = "spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized", "spec.disruption.consolidateAfter to 0s"
	said := map[string]string{}
	u.changePools("", func(p *scheduling.NodePool) {
		d := &p.Spec.Disruption
		var to []string
		if d.ConsolidationPolicy == scheduling.WhenEmpty {
			d.ConsolidationPolicy, to = scheduling.WhenEmptyOrUnderutilized, append(to, policy)
		}
		if d.ConsolidateAfter != nil && d.ConsolidateAfter.Duration == nil {
			d.ConsolidateAfter, to = none, append(to, after)
		}
		said["nodepool/"+p.Name] = "set " + strings.Join(to, ", and ")
	})
	maps.Copy(u.changes, said)
}

// relaxPoolBudgets lets each NodePool disrupt one node more at once than its budgets allow now, for consolidation of the
// reason for which they allow none, or else of underutilized nodes. No more than that is proposed, because budgets also
// protect the cluster from other disruption, and steps are split so that one node more is nearly always enough.
func (u *unblocking) relaxPoolBudgets() {
	pools := map[string]*poolState{}
	for _, s := range u.held {
		pools[s.pool.pool.Name] = s.pool
	}
	u.cluster.NodePools = slices.Clone(u.cluster.NodePools)
	for i, pool := range u.cluster.NodePools {
		p := pools[pool.Name]
		if p == nil {
			continue
		}
		least := map[string]int{}
		for _, reason := range []Reason{Empty, Underutilized} {
			if allowed := u.state.poolAllowance(p, reason); allowed == 0 || reason == Underutilized && len(least) == 0 && allowed < budget.Unbounded {
				least[budgetReason(reason)] = p.unavailable + allowed + 1
			}
		}
		if budgets, words := budget.Relax(pool.Spec.Disruption.Budgets, p.nodes, least, u.state.rules.now); len(words) > 0 {
			own := pool.DeepCopy()
			own.Spec.Disruption.Budgets = budgets
			u.cluster.NodePools[i], u.changes["nodepool/"+pool.Name] = own, strings.Join(words, ", and ")
		}
	}
}

// releaseReplicas lets nodes of static NodePools be removed, without launches in their place.
func (u *unblocking) releaseReplicas(none *scheduling.NillableDuration) {
	u.changePools("lower spec.replicas", func(p *scheduling.NodePool) {
		p.Spec.Replicas, p.Spec.Limits = nil, corev1.ResourceList{corev1.ResourceCPU: {}}
		p.Spec.Disruption = scheduling.Disruption{ConsolidationPolicy: scheduling.WhenEmptyOrUnderutilized, ConsolidateAfter: none, Budgets: []scheduling.Budget{{Nodes: "100%"}}}
	})
}

// releaseMachines lets nodes be removed that a NodePool keeps as its minimum.
func (u *unblocking) releaseMachines() bool {
	u.cluster.Machines = slices.Clone(u.cluster.Machines)
	for i := range u.cluster.Machines {
		m := &u.cluster.Machines[i]
		if slices.ContainsFunc(u.held, func(s *candidate) bool { return s.name == m.Node }) {
			m.MustStay = ""
		}
	}
	return true
}

// leaveAnnotationsOut removes the annotations against disruption from the nodes and their pods.
func (u *unblocking) leaveAnnotationsOut() {
	asks := map[string]bool{}
	for _, s := range u.held {
		if s.node.Annotations[eviction.DoNotDisrupt] == "true" {
			u.changes["node/"+s.name] = "remove the annotation " + eviction.DoNotDisrupt
		}
		for _, pod := range s.pods {
			if eviction.Protected(pod, u.state.rules.now) {
				asks[podspec.PodName(pod)] = true
				u.changes["pod/"+podspec.PodName(pod)] = eviction.Freeing(pod)
			}
		}
	}
	u.cluster.Nodes = slices.Clone(u.cluster.Nodes)
	for i, node := range u.cluster.Nodes {
		if u.changes["node/"+node.Name] != "" {
			u.cluster.Nodes[i] = node.DeepCopy()
			delete(u.cluster.Nodes[i].Annotations, eviction.DoNotDisrupt)
		}
	}
	for _, list := range []*[]*corev1.Pod{&u.cluster.Running, &u.cluster.Pods} {
		*list = slices.Clone(*list)
		for i, pod := range *list {
			if asks[podspec.PodName(pod)] {
				(*list)[i] = eviction.Unprotected(pod)
			}
		}
	}
}

// letOneGo changes PodDisruptionBudgets that hold pods of the nodes so that each allows one disruption. Of several
// budgets of a pod, all but the first by name are deleted.
func (u *unblocking) letOneGo() {
	none, second := map[string]bool{}, map[string]bool{}
	for _, s := range u.held {
		for _, pod := range s.pods {
			if !eviction.Evictable(pod, u.state.rules.now) {
				continue
			}
			for i, g := range u.state.rules.podBudgets.Charges(pod) {
				if i > 0 {
					second[g.Name] = true
				} else if g.Allowed == 0 {
					none[g.Name] = true
				}
			}
		}
	}
	budgets := []*policyv1.PodDisruptionBudget{}
	for _, b := range u.cluster.PodDisruptionBudgets {
		name := eviction.BudgetName(b)
		switch object := "poddisruptionbudget/" + name; {
		case second[name]:
			u.changes[object] = "merge it into the other PodDisruptionBudget of its pods, because the eviction API supports one for each pod"
			continue
		case none[name]:
			if own, to := eviction.Allowing(b, u.state.cluster.budgetPods()); own != nil {
				b, u.changes[object] = own, to
			}
		}
		budgets = append(budgets, b)
	}
	u.cluster.PodDisruptionBudgets = budgets
}
