package steps

import (
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// podBudget is a PodDisruptionBudget.
type podBudget struct {
	name            string // namespace/name
	namespace       string
	pods            labels.Selector
	alwaysUnhealthy bool // pods that are not ready may always go
	allowed         int  // how many pods may be away at once
}

// podBudgets are the PodDisruptionBudgets of a cluster, in order of their names.
type podBudgets []*podBudget

// podBudgetsOf reads the budgets of a cluster. A budget whose status its controller has not brought up to date is
// counted here.
func podBudgetsOf(c disruption.Cluster) podBudgets {
	var out podBudgets
	inSpace := lo.GroupBy(lo.Reject(lo.Compact(slices.Concat(c.Running, c.Pods)), func(pod *corev1.Pod, _ int) bool { return scheduling.IsVirtual(pod) }), func(pod *corev1.Pod) string { return snapshot.NamespaceOf(pod) })
	for _, b := range c.PodDisruptionBudgets {
		if b == nil {
			continue
		}
		g := &podBudget{name: snapshot.ObjectName(b), namespace: snapshot.NamespaceOf(b), pods: snapshot.Selecting(b.Spec.Selector)}
		g.alwaysUnhealthy = snapshot.ValueOr(b.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow
		s := &b.Status
		says := s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0
		if says && s.ObservedGeneration >= b.Generation {
			g.allowed = int(s.DisruptionsAllowed)
		} else {
			g.allowed = g.count(b, inSpace[g.namespace])
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b *podBudget) int { return strings.Compare(a.name, b.name) })
	return out
}

// count returns the number of pods that may be evicted, as the disruption controller counts it: ready pods less the
// pods that must be ready. Percentages are of all pods of the budget, rounded up.
func (g *podBudget) count(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) int {
	seen := make(map[string]bool)
	ready := 0
	for _, pod := range pods {
		if snapshot.Finished(pod) || seen[snapshot.ObjectName(pod)] || !g.counts(pod) {
			continue
		}
		seen[snapshot.ObjectName(pod)] = true
		switch says := readyPod(pod); {
		case pod.DeletionTimestamp != nil:
		case says == corev1.ConditionTrue, says == "" && pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodPending:
			ready++
		}
	}
	share := func(n *intstr.IntOrString) int {
		share, _ := intstr.GetScaledValueFromIntOrPercent(n, len(seen), true) // 0 with an error
		return share
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		return max(0, ready-max(0, len(seen)-share(b.Spec.MaxUnavailable)))
	case b.Spec.MinAvailable != nil:
		return max(0, ready-max(0, share(b.Spec.MinAvailable)))
	default:
		return 0
	}
}

// counts reports whether the budget counts the pod.
func (g *podBudget) counts(pod *corev1.Pod) bool {
	return snapshot.NamespaceOf(pod) == g.namespace && g.pods.Matches(labels.Set(pod.Labels))
}

// of returns the budgets that count an eviction of the pod, in order of their names.
func (all podBudgets) of(pod *corev1.Pod) podBudgets {
	if scheduling.IsVirtual(pod) {
		return nil
	}
	out := lo.Filter(all, func(b *podBudget, _ int) bool { return b.counts(pod) })
	if len(out) == 1 && out[0].alwaysUnhealthy && readyPod(pod) == corev1.ConditionFalse {
		return nil
	}
	return out
}

// spend takes off the budgets the largest wave that each step under way may still evict.
func (all podBudgets) spend(underway []disruption.Step, running map[string]*corev1.Pod) {
	for i := range underway {
		for _, b := range all {
			waves := make(map[int]int)
			for _, e := range underway[i].Evictions {
				pod := running[e.Pod]
				if pod != nil && pod.Spec.NodeName == e.From && snapshot.Live(pod) && slices.Contains(all.of(pod), b) {
					waves[e.Wave]++
				}
			}
			if len(waves) > 0 {
				b.allowed = max(0, b.allowed-slices.Max(lo.Values(waves)))
			}
		}
	}
}
