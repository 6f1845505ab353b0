package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// blockers are the causes for which a node may not be removed for a reason, the most important first; nil if it may.
// Budgets of NodePools are not among them, see poolAllowance. Nothing holds back interruption and expiry, as in
// Karpenter.
func (f *state) blockers(s *candidate, reason Reason) []Cause {
	switch {
	case s.beingRemoved():
		return []Cause{{Code: CauseGoing, Detail: "is being removed already"}}
	case reason == Interrupted || reason == Expired:
		return nil
	}
	if cause := f.ownerCause(s); cause != nil {
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
		add(&Cause{Code: CauseStatic, Object: "nodepool/" + s.poolName(), Detail: "the pool keeps a fixed number of nodes"})
	}
	if why := s.machine.MustStay; why != "" {
		add(&Cause{Code: CauseMinNodes, Object: "nodepool/" + s.poolName(), Detail: why})
	}
	if s.machine.NominatedUntil.After(f.now) {
		add(&Cause{Code: CauseNominated, Detail: "pods are expected here until " + s.machine.NominatedUntil.UTC().Format(time.RFC3339)})
	}
	if len(s.expected) > 0 && !s.machine.NominatedUntil.After(f.now) {
		add(&Cause{Code: CauseNominated, Detail: "pending pods are expected here"})
	}
	if s.node.Annotations[eviction.DoNotDisrupt] == "true" {
		add(&Cause{Code: CauseDoNotDisrupt, Detail: "the node has the annotation " + eviction.DoNotDisrupt})
	}
	if f.planner.KeepBarePods && len(s.bare) > 0 {
		c := withPodCount(Cause{Code: CauseBarePod, Object: "pod/" + podspec.PodName(s.bare[0]), Detail: "the pod has no controller, and would not be recreated"}, len(s.bare))
		add(&c)
	}
	consolidates := reason == Empty || reason == Underutilized
	if consolidates {
		add(f.policyCause(s, reason))
		add(f.tooSoonCause(s))
	}
	if reason == Underutilized && !s.priced {
		add(&Cause{Code: CauseUnknownPrice, Detail: unknownPrice(s.node)})
	}
	if consolidates || f.graceOf(s) == nil {
		out = append(out, s.podCauses...)
	}
	return out
}

// ownerCause is the cause for which a node has no pool that could replace it; nil if it has one.
func (f *state) ownerCause(s *candidate) *Cause {
	switch name := s.poolName(); {
	case name == "":
		return &Cause{Code: CauseNoNodePool, Detail: "belongs to no NodePool"}
	case s.pool == nil:
		return &Cause{Code: CauseNoNodePool, Object: "nodepool/" + name, Detail: "there is no NodePool " + name}
	case s.pool.catalog.Len() == 0:
		return &Cause{Code: CauseNoTypes, Object: "nodepool/" + name, Detail: "the pool has no instance types to choose from"}
	}
	return nil
}

// policyCause is the cause if the pool's policy excludes consolidation; nil if it does not.
func (f *state) policyCause(s *candidate, reason Reason) *Cause {
	d := &s.pool.pool.Spec.Disruption
	object := "nodepool/" + s.poolName()
	if d.ConsolidateAfter != nil && d.ConsolidateAfter.Duration == nil {
		return &Cause{Code: CausePolicy, Object: object, Detail: "consolidateAfter is Never"}
	}
	if reason == Underutilized && d.ConsolidationPolicy == scheduling.WhenEmpty {
		return &Cause{Code: CausePolicy, Object: object, Detail: "the pool is consolidated only when nodes are empty (WhenEmpty)"}
	}
	return nil
}

// tooSoonCause is the cause if consolidateAfter or the least age has not passed; nil if it has, or the times are not
// known.
func (f *state) tooSoonCause(s *candidate) *Cause {
	created := f.createdAt(s)
	quiet := s.machine.LastPodEvent
	if quiet.IsZero() {
		quiet = s.machine.Initialized
	}
	if quiet.IsZero() {
		quiet = created
	}
	if after := s.pool.pool.Spec.Disruption.ConsolidateAfter; after != nil && after.Duration != nil {
		if until := quiet.Add(*after.Duration); !quiet.IsZero() && f.now.Before(until) {
			return &Cause{Code: CauseTooSoon, Detail: fmt.Sprintf("consolidateAfter %s has not passed before %s", after, until.UTC().Format(time.RFC3339))}
		}
	}
	if until := created.Add(f.planner.MinLifetime); f.planner.MinLifetime > 0 && !created.IsZero() && f.now.Before(until) {
		return &Cause{Code: CauseTooSoon, Detail: fmt.Sprintf("is younger than %s until %s", f.planner.MinLifetime, until.UTC().Format(time.RFC3339))}
	}
	return nil
}

// consolidatable reports whether consolidateAfter and the least age have passed, as in Karpenter's condition
// Consolidatable.
func (f *state) consolidatable(s *candidate) bool { return s.pool == nil || f.tooSoonCause(s) == nil }

// createdAt is when a node's machine was requested; zero if that is not known.
func (f *state) createdAt(s *candidate) time.Time {
	if s.node == nil || !s.machine.Created.IsZero() {
		return s.machine.Created
	}
	return s.node.CreationTimestamp.Time
}

// graceOf is the longest time for draining a node; nil if it is not bounded.
func (f *state) graceOf(s *candidate) *time.Duration {
	switch {
	case s.machine.TerminationGracePeriod != nil:
		return &s.machine.TerminationGracePeriod.Duration
	case s.pool != nil && s.pool.pool.Spec.Template.Spec.TerminationGracePeriod != nil:
		return &s.pool.pool.Spec.Template.Spec.TerminationGracePeriod.Duration
	}
	return nil
}

// podBlockers says which pods of a node may not be evicted: the first that asks to be left
// alone, and the first that a budget holds.
func (f *state) podBlockers(s *candidate) []Cause {
	var asks, held []Cause
	for _, pod := range s.pods {
		if eviction.Protected(pod, f.now) {
			asks = append(asks, Cause{Code: CauseDoNotDisrupt, Object: "pod/" + podspec.PodName(pod), Detail: "the pod has the annotation " + eviction.AnnotationOf(pod)})
		}
		if c := f.podBudgetCause(pod); c != nil {
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
func (f *state) podBudgetCause(pod *corev1.Pod) *Cause {
	if !eviction.Evictable(pod, f.now) {
		return nil
	}
	charges := f.podBudgets.Charges(pod)
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

// unknownPrice says why the price of a node is not known.
func unknownPrice(node *corev1.Node) string {
	as := instancetypes.OfferingOf(node)
	switch {
	case as.InstanceType == "":
		return "the node has no label for its instance type"
	case as.Zone == "":
		return "the node has no label for its zone"
	case as.CapacityType == "":
		return "the node has no label for its capacity type"
	}
	return fmt.Sprintf("the catalog has no offering of %s as %s in zone %s", as.InstanceType, as.CapacityType, as.Zone)
}
