package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// rules tell which nodes may be disrupted, for which reason and at which cost, by the nodes, their pods and the planner's
// settings alone. They do not change while a plan is made.
type rules struct {
	planner    Planner // its effort does not matter here
	now        time.Time
	costs      pricing.Costs
	podBudgets *eviction.Budgets
}

// newRules reads a valid cluster.
func newRules(p Planner, c *Cluster) *rules {
	r := &rules{planner: p, now: p.Now, costs: pricing.Costs{Node: cmp.Or(p.NodeCost, 1), Pod: p.PodCost}, podBudgets: eviction.NewBudgets(c.PodDisruptionBudgets, c.budgetPods())}
	if r.now.IsZero() {
		r.now = c.Now
	}
	return r
}

// budgetPods are the pods that PodDisruptionBudgets count, pending ones included.
func (c *Cluster) budgetPods() []*corev1.Pod { return slices.Concat(c.Pods, c.Running) }

// BudgetFix describes the change that lets a PodDisruptionBudget which allows no eviction allow one, as [Planner.Blocked]
// tries it, e.g. "set spec.maxUnavailable to 1"; "" where no change helps, for nil, and with an invalid selector.
func (c *Cluster) BudgetFix(b *policyv1.PodDisruptionBudget) string {
	_, to := eviction.Allowing(b, slices.DeleteFunc(c.budgetPods(), func(pod *corev1.Pod) bool { return pod == nil }))
	return to
}

// reserveBudgets subtracts from each PodDisruptionBudget the most pods that one wave of a step under way may still
// evict.
func (r *rules) reserveBudgets(underway []Step, pods map[string]*corev1.Pod) {
	for i := range underway {
		taken, most := map[*eviction.Budget]map[int]int{}, map[*eviction.Budget]int{}
		for _, e := range underway[i].Evictions {
			pod := pods[e.Pod]
			if !e.ahead(pod) || !eviction.Active(pod) {
				continue
			}
			for _, g := range r.podBudgets.Charges(pod) {
				if taken[g] == nil {
					taken[g] = map[int]int{}
				}
				taken[g][e.Wave]++
				most[g] = max(most[g], taken[g][e.Wave])
			}
		}
		for g, n := range most {
			g.Allowed = max(0, g.Allowed-n)
		}
	}
}

// blockers are the causes for which a node may not be removed for a reason, the most important first; nil if it may.
// Budgets of NodePools are not among them, see poolAllowance. Nothing holds back interruption and expiry, as in
// Karpenter.
func (r *rules) blockers(s *candidate, reason Reason) []Cause {
	switch {
	case s.beingRemoved():
		return []Cause{{Code: CauseBeingRemoved, Detail: "is being removed already"}}
	case reason == Interrupted || reason == Expired:
		return nil
	}
	if cause := s.ownerCause(); cause != nil {
		return []Cause{*cause}
	}
	var out []Cause
	add := func(c *Cause) {
		if c != nil {
			out = append(out, *c)
		}
	}
	if !s.initialized() {
		add(&Cause{Code: CauseNotReady, Detail: "has not become ready yet"})
	}
	if s.pool.pool.Spec.Replicas != nil {
		add(&Cause{Code: CauseStatic, Object: "nodepool/" + s.poolName(), Detail: "the NodePool is static (spec.replicas)"})
	}
	if why := s.machine.MustStay; why != "" {
		add(&Cause{Code: CauseMinNodes, Object: "nodepool/" + s.poolName(), Detail: why})
	}
	if s.machine.NominatedUntil.After(r.now) {
		add(&Cause{Code: CauseNominated, Detail: "pods are nominated to it until " + s.machine.NominatedUntil.UTC().Format(time.RFC3339)})
	}
	if len(s.expected) > 0 && !s.machine.NominatedUntil.After(r.now) {
		add(&Cause{Code: CauseNominated, Detail: "pending pods are nominated to it"})
	}
	if s.node.Annotations[eviction.DoNotDisrupt] == "true" {
		add(&Cause{Code: CauseDoNotDisrupt, Detail: "the node has the annotation " + eviction.DoNotDisrupt})
	}
	if r.planner.KeepBarePods && len(s.bare) > 0 {
		c := withPodCount(Cause{Code: CauseUnmanagedPod, Object: "pod/" + podspec.PodName(s.bare[0]), Detail: "the pod has no controller, and would not be recreated"}, len(s.bare))
		add(&c)
	}
	consolidates := reason == Empty || reason == Underutilized
	if consolidates {
		add(r.policyCause(s, reason))
		add(r.tooSoonCause(s))
	}
	if reason == Underutilized && !s.priced {
		add(&Cause{Code: CauseUnknownPrice, Detail: pricing.WhyUnknown(s.node)})
	}
	if consolidates || s.grace() == nil {
		out = append(out, s.podCauses...)
	}
	return out
}

// policyCause is the cause if the pool's policy excludes consolidation; nil if it does not.
func (r *rules) policyCause(s *candidate, reason Reason) *Cause {
	d := &s.pool.pool.Spec.Disruption
	object := "nodepool/" + s.poolName()
	if d.ConsolidateAfter != nil && d.ConsolidateAfter.Duration == nil {
		return &Cause{Code: CausePolicy, Object: object, Detail: "consolidateAfter is Never"}
	}
	if reason == Underutilized && d.ConsolidationPolicy == scheduling.WhenEmpty {
		return &Cause{Code: CausePolicy, Object: object, Detail: "consolidationPolicy is WhenEmpty"}
	}
	return nil
}

// tooSoonCause is the cause if consolidateAfter or the least age has not passed; nil if it has, or the times are not
// known.
func (r *rules) tooSoonCause(s *candidate) *Cause {
	created := s.created()
	quiet := s.machine.LastPodEvent
	if quiet.IsZero() {
		quiet = s.machine.Initialized
	}
	if quiet.IsZero() {
		quiet = created
	}
	if after := s.pool.pool.Spec.Disruption.ConsolidateAfter; after != nil && after.Duration != nil {
		if until := quiet.Add(*after.Duration); !quiet.IsZero() && r.now.Before(until) {
			return &Cause{Code: CauseTooSoon, Detail: fmt.Sprintf("consolidateAfter %s has not passed before %s", after, until.UTC().Format(time.RFC3339))}
		}
	}
	if until := created.Add(r.planner.MinLifetime); r.planner.MinLifetime > 0 && !created.IsZero() && r.now.Before(until) {
		return &Cause{Code: CauseTooSoon, Detail: fmt.Sprintf("is younger than %s until %s", r.planner.MinLifetime, until.UTC().Format(time.RFC3339))}
	}
	return nil
}

// consolidatable reports whether consolidateAfter and the least age have passed, as in Karpenter's condition
// Consolidatable.
func (r *rules) consolidatable(s *candidate) bool { return s.pool == nil || r.tooSoonCause(s) == nil }

// podBlockers says which pods of a node may not be evicted: the first that asks to be left
// alone, and the first that a budget holds.
func (r *rules) podBlockers(s *candidate) []Cause {
	var asks, held []Cause
	for _, pod := range s.pods {
		if eviction.Protected(pod, r.now) {
			asks = append(asks, Cause{Code: CauseDoNotDisrupt, Object: "pod/" + podspec.PodName(pod), Detail: "the pod has the annotation " + eviction.AnnotationOf(pod)})
		}
		if c := r.podBudgetCause(pod); c != nil {
			held = append(held, *c)
		}
	}
	var out []Cause
	for _, list := range [][]Cause{asks, held} {
		if len(list) > 0 {
			out = append(out, withPodCount(list[0], len(list)))
		}
	}
	return out
}

// withPodCount adds the number of pods with the same cause to its detail.
func withPodCount(c Cause, pods int) Cause {
	if pods > 1 {
		more := "more pods"
		if pods == 2 {
			more = "more pod"
		}
		c.Detail += fmt.Sprintf(" (and %d %s)", pods-1, more)
	}
	return c
}

// podBudgetCause is the cause if PodDisruptionBudgets do not let a pod be evicted at all: one that allows no
// disruption, or two, which the API server does not support. It is nil if they do.
func (r *rules) podBudgetCause(pod *corev1.Pod) *Cause {
	if !eviction.Evictable(pod, r.now) {
		return nil
	}
	charges := r.podBudgets.Charges(pod)
	switch {
	case len(charges) > 1:
		return &Cause{
			Code: CauseBudget, Object: "poddisruptionbudget/" + charges[0].Name,
			Detail: fmt.Sprintf("pod %s has %d PodDisruptionBudgets, and cannot be evicted", podspec.PodName(pod), len(charges)),
		}
	case len(charges) == 1 && charges[0].Allowed == 0:
		return &Cause{Code: CauseBudget, Object: "poddisruptionbudget/" + charges[0].Name, Detail: "pod " + podspec.PodName(pod) + " cannot be evicted now"}
	}
	return nil
}
