package duel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// narrow is what verify says about a plan, in any of the orders that are tried, if every
// domain counts in which a machine on sale could hold a pod that has to spread. kube-scheduler by
// itself counts only domains that have nodes: pods that all go to one zone spread over one
// zone, and so would any pods if nobody looked further. It is empty if the pods spread over
// all such domains.
func narrow(ctx context.Context, p scheduling.Problem, plan *scheduling.Plan, solver scheduling.Policy) (string, error) {
	p, err := withEmptyDomains(ctx, p)
	if err != nil {
		return "", err
	}
	return unlucky(p, plan, solver), nil
}

// withEmptyDomains is the problem with an empty node, on which nothing has room, wherever a
// machine on sale could hold a pod that has to spread, if that pod were alone and its pool
// had neither limits nor minValues. The nodes have no host name: they are no hosts.
func withEmptyDomains(ctx context.Context, p scheduling.Problem) (scheduling.Problem, error) {
	nodes := map[string]*corev1.Node{}
	for _, pod := range p.Pods {
		if !spreads(pod) {
			continue
		}
		for _, pool := range p.NodePools {
			for o := range everyOffering(p, pool) {
				node, err := holding(ctx, p, pod, pool, o)
				if err != nil {
					return p, err
				}
				if node != nil {
					delete(node.Labels, corev1.LabelHostname)
					nodes[fmt.Sprint(node.Labels)] = node
				}
			}
		}
	}
	p.Nodes = slices.Clone(p.Nodes)
	for i, at := range slices.Sorted(maps.Keys(nodes)) {
		node := nodes[at]
		node.Name = fmt.Sprintf("empty-domain-%d", i)
		node.Status.Capacity, node.Status.Allocatable = nil, nil
		p.Nodes = append(p.Nodes, node)
	}
	return p, nil
}

// spreads is whether a pod has to spread over more than hosts.
func spreads(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.TopologyKey != corev1.LabelHostname
	})
}

// everyOffering yields what a pool's catalog holds.
func everyOffering(p scheduling.Problem, pool *scheduling.NodePool) func(func(scheduling.Option) bool) {
	catalog := catalogOf(p, pool)
	return func(yield func(scheduling.Option) bool) {
		if catalog == nil {
			return
		}
		for t := range catalog.All() {
			for _, o := range t.Offerings {
				if !yield(scheduling.Option{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}) {
					return
				}
			}
		}
	}
}

// catalogOf is the catalog that a pool buys from.
func catalogOf(p scheduling.Problem, pool *scheduling.NodePool) *instancetypes.Catalog {
	if own := p.PoolCatalogs[pool.Name]; own != nil {
		return own
	}
	return p.Catalog
}

// holding is the node that an offering becomes if the pool buys it for the pod alone; nil
// if it does not hold the pod.
func holding(ctx context.Context, p scheduling.Problem, pod *corev1.Pod, pool *scheduling.NodePool, o scheduling.Option) (*corev1.Node, error) {
	pod = pod.DeepCopy()
	pod.Spec.TopologySpreadConstraints = nil
	if a := pod.Spec.Affinity; a != nil {
		a.PodAffinity, a.PodAntiAffinity = nil, nil
	}
	if pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	for key, value := range map[string]string{
		corev1.LabelInstanceTypeStable: o.InstanceType, corev1.LabelTopologyZone: o.Zone, scheduling.CapacityTypeLabel: string(o.CapacityType),
	} {
		if asked, ok := pod.Spec.NodeSelector[key]; ok && asked != value {
			return nil, nil //nolint:nilnil // no node is an answer
		}
		pod.Spec.NodeSelector[key] = value
	}
	pool = pool.DeepCopy()
	pool.Spec.Limits = nil
	for i := range pool.Spec.Template.Spec.Requirements {
		pool.Spec.Template.Spec.Requirements[i].MinValues = nil
	}
	p.Pods, p.NodePools, p.Nodes, p.Running, p.DefaultSpread = []*corev1.Pod{pod}, []*scheduling.NodePool{pool}, nil, nil, nil
	p.PoolCatalogs = maps.Clone(p.PoolCatalogs)
	for name := range p.PoolCatalogs {
		if name != pool.Name {
			delete(p.PoolCatalogs, name)
		}
	}
	plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(ctx, p)
	if errors.Is(err, scheduling.ErrInvalid) {
		return nil, nil //nolint:nilnil // the pool has nothing on sale
	}
	if err != nil || len(plan.Launches) == 0 {
		return nil, err
	}
	l := &plan.Launches[0]
	return l.Node("", &l.Options[0], catalogOf(p, pool))
}

// tried is in how many orders the pods of a plan are bound beside the order of their names.
const tried = 16

// unlucky is what verify says about a plan when pods of equal priority come in another
// order than that of their names: from the last to the first, then in random ones. It is
// empty if all pods bind in all orders that are tried.
func unlucky(p scheduling.Problem, plan *scheduling.Plan, solver scheduling.Policy) string {
	dice := rand.New(rand.NewPCG(1, 2))
	turns := make([]int, len(p.Pods))
	for i := range turns {
		turns[i] = len(turns) - i
	}
	for range tried {
		again, renamed := inTurn(p, plan, turns)
		var report *verify.Report
		if errors.As(verify.Checker{Policy: solver, SkipRefusals: true}.Plan(again, renamed), &report) {
			for _, v := range report.Violations {
				if aboutOthers(v.Code) {
					return v.Error()
				}
			}
		}
		dice.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
	}
	return ""
}

// aboutOthers is whether a rule depends on which pods are there already.
func aboutOthers(c verify.Code) bool {
	return c == verify.TopologySpread || c == verify.PodAffinity || c == verify.PodAntiAffinity
}

// inTurn gives pods names by which they come in their turns, in the problem and in the
// plan.
func inTurn(p scheduling.Problem, plan *scheduling.Plan, turns []int) (scheduling.Problem, *scheduling.Plan) {
	names := map[string]string{}
	pods := make([]*corev1.Pod, len(p.Pods))
	for i, pod := range p.Pods {
		pods[i] = pod.DeepCopy()
		pods[i].Name = fmt.Sprintf("%06d-%s", turns[i], pod.Name)
		names[name(pod)] = name(pods[i])
	}
	p.Pods = pods
	out := &scheduling.Plan{Launches: slices.Clone(plan.Launches), Unschedulable: slices.Clone(plan.Unschedulable)}
	for i := range out.Launches {
		l := &out.Launches[i]
		l.Pods = slices.Clone(l.Pods)
		for k, pod := range l.Pods {
			l.Pods[k] = names[pod]
		}
		slices.Sort(l.Pods)
	}
	for i := range out.Unschedulable {
		out.Unschedulable[i].Pod = names[out.Unschedulable[i].Pod]
	}
	return p, out
}
