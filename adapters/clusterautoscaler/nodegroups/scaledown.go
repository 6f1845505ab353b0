package nodegroups

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ScaleDownSettings say which nodes may be removed. The zero value has the autoscaler's defaults.
type ScaleDownSettings struct {
	// UtilizationThreshold keeps nodes whose [Utilization] reaches it (--scale-down-utilization-threshold); 0 is 0.5.
	// Nodes of atomic groups are kept by it as well, each by itself.
	UtilizationThreshold float64
	// IgnoreDaemonSets leaves DaemonSets' pods out of utilization (--ignore-daemonsets-utilization).
	IgnoreDaemonSets bool
	// SystemPods, LocalStorage and BarePods allow the eviction of pods in kube-system without a PodDisruptionBudget, of
	// pods with volumes on their node, and of pods without a controller (--skip-nodes-with-system-pods,
	// --skip-nodes-with-local-storage and --skip-nodes-with-custom-controller-pods, each false).
	SystemPods, LocalStorage, BarePods bool
	// Replace allows groups to grow for the pods of nodes that are removed, where that saves. The autoscaler never does.
	Replace bool
}

// defaultThreshold is that of --scale-down-utilization-threshold.
const defaultThreshold = 0.5

func (s *ScaleDownSettings) threshold() float64 {
	return cmp.Or(s.UtilizationThreshold, defaultThreshold)
}

// Removal is a node to remove.
type Removal struct {
	// Node is its name, Group the id of its group.
	Node, Group string
	// Step is the step of the plan that removes it, counted from 1. Nodes of one step may be removed at once.
	Step int
	// Utilization is that of the node.
	Utilization float64
	// PricePerHour is the price that is saved, in USD per hour.
	PricePerHour offerings.Price
	// Atomic says that its group is removed as a whole: remove all of its nodes or none.
	Atomic bool
}

// ScaleDown is the plan of nodes to remove.
type ScaleDown struct {
	// Removals are the nodes to remove, in their order.
	Removals []Removal
	// Unremovable are the other nodes, by name.
	Unremovable []Unremovable
	// Resizes are the groups whose size changes, in the order of [Cluster.Groups]. Those that grow do so only with
	// [ScaleDownSettings.Replace], before nodes are removed.
	Resizes []Resize
	// SavingPerHour is the price of the removed nodes less that of new ones, in USD per hour.
	SavingPerHour offerings.Price
	// Cluster and Plan are the groups as NodePools, with their plan: its steps have the evictions in their order, with the
	// node where each pod is expected.
	Cluster disruption.Cluster
	Plan    *disruption.ConsolidationPlan
}

// scaleDown is a plan in the making.
type scaleDown struct {
	*model
	settings *ScaleDownSettings
	planner  disruption.Planner
	cluster  disruption.Cluster
	// utilization and refusals are by node; nodes without a refusal may be removed as far as the settings tell.
	utilization map[string]float64
	refusals    map[string]Unremovable
	// whole are the atomic groups that are to be removed.
	whole map[int]bool
	plan  *disruption.ConsolidationPlan
}

// ScaleDown plans which nodes can be removed, so that every pod of them has another node. The time of the decision is that
// of the cluster's problem. The same cluster gives the same plan. An error means a malformed cluster, with all its faults,
// or a cancelled context.
func (p Planner) ScaleDown(ctx context.Context, c Cluster) (*ScaleDown, error) {
	p.Policy = p.policy()
	m, err := p.model(c, p.ScaleDownSettings.Replace)
	if err != nil {
		return nil, err
	}
	s := &scaleDown{
		model: m, settings: &p.ScaleDownSettings, utilization: map[string]float64{}, refusals: map[string]Unremovable{}, whole: map[int]bool{},
		planner: disruption.Planner{Policy: p.Policy, Reasons: []disruption.Reason{disruption.Empty, disruption.Underutilized}},
		cluster: disruption.Cluster{Problem: m.problem, PodDisruptionBudgets: c.PodDisruptionBudgets},
	}
	s.refuse()
	s.chooseWhole()
	for {
		if err := s.try(ctx); err != nil {
			return nil, err
		}
		if s.whole = s.keepBroken(); s.whole == nil {
			break
		}
	}
	if err := (verify.StepsChecker{Planner: s.planner}).Steps(s.cluster, s.plan); err != nil {
		return nil, fmt.Errorf("the plan breaks a rule: %w", err)
	}
	return s.result(), nil
}

// refuse finds the nodes that the settings keep.
func (s *scaleDown) refuse() {
	pods := map[string][]*corev1.Pod{}
	for _, pod := range s.problem.Running {
		if pod != nil {
			pods[pod.Spec.NodeName] = append(pods[pod.Spec.NodeName], pod)
		}
	}
	for _, node := range s.problem.Nodes {
		on := pods[node.Name]
		slices.SortFunc(on, func(a, b *corev1.Pod) int { return strings.Compare(scheduling.PodName(a), scheduling.PodName(b)) })
		s.utilization[node.Name] = Utilization(node, on, s.settings.IgnoreDaemonSets)
		u := s.settings.refusal(node, on, s.PodDisruptionBudgets, s.utilization[node.Name])
		if _, member := s.GroupOf[node.Name]; !member {
			u = Unremovable{Node: node.Name, Utilization: u.Utilization, Reason: NotAutoscaled, Detail: "the node belongs to no node group"}
		}
		if u.Reason != "" {
			s.refusals[node.Name] = u
		}
	}
}

// chooseWhole takes all atomic groups that may be removed as a whole, and keeps the others.
func (s *scaleDown) chooseWhole() {
	for g := range s.Groups {
		if !s.Groups[g].Atomic || len(s.joined[g]) == 0 {
			continue
		}
		switch {
		case s.Groups[g].Min > 0:
			s.keepGroup(g, NodeGroupMinSizeReached, fmt.Sprintf("the group shrinks as a whole, and its minimum size is %d", s.Groups[g].Min))
		case s.underway(g) > 0:
			s.keepGroup(g, AtomicScaleDownFailed, "the group shrinks as a whole, and has nodes that have not joined yet")
		case slices.ContainsFunc(s.joined[g], func(n *corev1.Node) bool { return s.refusals[n.Name].Reason != "" }):
			s.keepGroup(g, AtomicScaleDownFailed, "the group shrinks as a whole, and another node of it cannot be removed")
		default:
			s.whole[g] = true
		}
	}
}

// keepGroup refuses the removal of the nodes of a group.
func (s *scaleDown) keepGroup(g int, reason UnremovableReason, detail string) {
	for _, node := range s.joined[g] {
		if s.refusals[node.Name].Reason == "" {
			s.refusals[node.Name] = Unremovable{Node: node.Name, Utilization: s.utilization[node.Name], Reason: reason, Detail: detail}
		}
	}
}

// try plans the removal of nodes. Those of whole groups are given as drifted ones, because these are removed whether or not
// a single one of them saves, and take in no pods.
func (s *scaleDown) try(ctx context.Context) (err error) {
	s.cluster.Machines = nil
	s.planner.Reasons = []disruption.Reason{disruption.Empty, disruption.Underutilized}
	if len(s.whole) > 0 {
		s.planner.Reasons = append(s.planner.Reasons, disruption.Drifted)
	}
	least := map[string]int{}
	for g, group := range s.Groups {
		if !group.Atomic {
			least[s.pools[g]] = group.Min - s.underway(g)
		}
		for _, node := range s.joined[g] {
			m := disruption.Machine{Node: node.Name, MustStay: s.refusals[node.Name].Detail}
			if s.whole[g] {
				m.Drift = "ScaledDownAsAWhole"
			}
			s.cluster.Machines = append(s.cluster.Machines, m)
		}
	}
	s.cluster = s.cluster.KeepAtLeast(s.planner, least)
	s.plan, err = s.planner.Plan(ctx, s.cluster)
	return err
}

// keepBroken keeps the whole groups of which a node stays, or that need new nodes, and returns the others; nil if no
// group is like that.
func (s *scaleDown) keepBroken() map[int]bool {
	removed := map[string]bool{}
	for i := range s.plan.Steps {
		for _, node := range s.plan.Steps[i].Drain {
			removed[node] = len(s.plan.Steps[i].Launches) == 0
		}
	}
	left, broken := map[int]bool{}, false
	for g := range s.Groups {
		switch {
		case !s.whole[g]:
		case slices.ContainsFunc(s.joined[g], func(n *corev1.Node) bool { return !removed[n.Name] }):
			s.keepGroup(g, AtomicScaleDownFailed, "the group shrinks as a whole, and the pods of its nodes do not all fit elsewhere")
			broken = true
		default:
			left[g] = true
		}
	}
	if !broken {
		return nil
	}
	return left
}
