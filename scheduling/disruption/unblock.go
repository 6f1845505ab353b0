package disruption

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/budget"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// unblocked is the planner and the cluster with settings and objects changed so that a cause does not hold the given nodes,
// and the changes of objects, by object. It reports false if no change removes the cause.
func unblocked(f *state, p Planner, c Cluster, code CauseCode, held []*candidate) (Planner, Cluster, []ObjectChange, bool) {
	u := &unblocking{planner: p, cluster: c, held: held, state: f, changes: map[string]string{}}
	done := u.byCode(code)
	changes := []ObjectChange{}
	for _, object := range slices.Sorted(maps.Keys(u.changes)) {
		changes = append(changes, ObjectChange{object, u.changes[object]})
	}
	return u.planner, u.cluster, changes, done || len(changes) > 0
}

// ObjectChange is a change of an object that helps to remove a cause.
type ObjectChange struct {
	// Object is the object to change, as kind/name or kind/namespace/name.
	Object string `json:"object"`
	// To describes the change in a few words.
	To string `json:"to"`
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
	//exhaustive:enforce
	switch code {
	case CauseDoNotDisrupt:
		u.leaveAnnotationsOut()
	case CauseBudget:
		var pods []*corev1.Pod
		for _, s := range u.held {
			pods = append(pods, s.pods...)
		}
		r := u.state.rules
		u.cluster.PodDisruptionBudgets = r.podBudgets.AllowOne(u.cluster.PodDisruptionBudgets, pods, u.state.cluster.budgetPods(), r.now, u.changes)
	case CausePoolBudget:
		u.changePools(u.relaxBudgets)
	case CausePolicy:
		u.changePools(consolidated)
	case CauseScore:
		u.changePools(func(p *scheduling.NodePool) string {
			p.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
			return "set " + policySet
		})
	case CauseTooSoon:
		u.changePools(func(p *scheduling.NodePool) string {
			p.Spec.Disruption.ConsolidateAfter = atOnce()
			return "set " + afterSet
		})
		u.planner.MinLifetime = 0
	case CauseStatic: // nodes may be removed, and none is launched in their place
		u.changePools(func(p *scheduling.NodePool) string {
			p.Spec.Replicas, p.Spec.Limits = nil, corev1.ResourceList{corev1.ResourceCPU: {}}
			p.Spec.Disruption = scheduling.Disruption{ConsolidationPolicy: scheduling.WhenEmptyOrUnderutilized, ConsolidateAfter: atOnce(), Budgets: []scheduling.Budget{{Nodes: "100%"}}}
			return "lower spec.replicas"
		})
	case CauseMinValues:
		u.changePools(func(p *scheduling.NodePool) string {
			for i := range p.Spec.Template.Spec.Requirements {
				p.Spec.Template.Spec.Requirements[i].MinValues = nil
			}
			return "leave minValues out of spec.template.spec.requirements"
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

// changePools changes the NodePools of the nodes. The change is returned in words, "" for none.
func (u *unblocking) changePools(change func(*scheduling.NodePool) string) {
	u.cluster.NodePools = slices.Clone(u.cluster.NodePools)
	for i, pool := range u.cluster.NodePools {
		if !slices.ContainsFunc(u.held, func(s *candidate) bool { return s.pool.pool.Name == pool.Name }) {
			continue
		}
		own := pool.DeepCopy()
		if to := change(own); to != "" {
			u.cluster.NodePools[i], u.changes["nodepool/"+pool.Name] = own, to
		}
	}
}

// The changes that let a NodePool be consolidated, in words.
const (
	policySet = "spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized"
	afterSet  = "spec.disruption.consolidateAfter to 0s"
)

// atOnce is a consolidateAfter that passes at once.
func atOnce() *scheduling.NillableDuration {
	return &scheduling.NillableDuration{Duration: new(time.Duration(0))}
}

// consolidated lets a NodePool be consolidated.
func consolidated(p *scheduling.NodePool) string {
	d := &p.Spec.Disruption
	var to []string
	if d.ConsolidationPolicy == scheduling.WhenEmpty {
		d.ConsolidationPolicy, to = scheduling.WhenEmptyOrUnderutilized, append(to, policySet)
	}
	if d.ConsolidateAfter != nil && d.ConsolidateAfter.Duration == nil {
		d.ConsolidateAfter, to = atOnce(), append(to, afterSet)
	}
	return "set " + strings.Join(to, ", and ")
}

// relaxBudgets lets a NodePool disrupt one node more at once than its budgets allow now, for consolidation of the reason for
// which they allow none, or else of underutilized nodes. No more than that is proposed, because budgets also protect the
// cluster from other disruption, and steps are split so that one node more is nearly always enough.
func (u *unblocking) relaxBudgets(pool *scheduling.NodePool) string {
	p, least := u.state.pools[pool.Name], map[string]int{}
	for _, reason := range []Reason{Empty, Underutilized} {
		if allowed := u.state.poolAllowance(p, reason); allowed == 0 || reason == Underutilized && len(least) == 0 && allowed < budget.Unbounded {
			least[budgetReason(reason)] = p.unavailable + allowed + 1
		}
	}
	budgets, words := budget.Relax(pool.Spec.Disruption.Budgets, p.nodes, least, u.state.rules.now)
	pool.Spec.Disruption.Budgets = budgets
	return strings.Join(words, ", and ")
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
	free := func(pod *corev1.Pod, _ int) *corev1.Pod {
		if asks[podspec.PodName(pod)] {
			return eviction.Unprotected(pod)
		}
		return pod
	}
	u.cluster.Running, u.cluster.Pods = lo.Map(u.cluster.Running, free), lo.Map(u.cluster.Pods, free)
}
