package verify

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
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
	inSpace := lo.GroupBy(lo.Compact(slices.Concat(c.Running, c.Pods)), func(pod *corev1.Pod) string { return snapshot.NamespaceOf(pod) })
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

// budgetCheck judges a step's use of budgets, of pods and of nodes.
type budgetCheck struct {
	cluster *clusterState
	report  *Report
	step    *disruption.Step
	going   []*clusterNode
	moves   []move
}

// podBudgets checks that no wave evicts more pods than a budget allows, and the step's own figures.
func (c *budgetCheck) podBudgets() {
	most, least := make(map[*podBudget]int), make(map[*podBudget]int)
	type seat struct {
		budget *podBudget
		wave   int
	}
	evicted, leave := make(map[seat]int), make(map[seat]int)
	for _, m := range c.moves {
		if !snapshot.Live(m.pod) {
			continue // it is on its way out already
		}
		for _, b := range c.cluster.budgets.of(m.pod) {
			at := seat{b, m.Wave}
			leave[at]++
			most[b] = max(most[b], leave[at])
			if c.cluster.rules.evictable(m.pod) {
				evicted[at]++
				least[b] = max(least[b], evicted[at])
			}
		}
	}
	for _, b := range c.cluster.budgets {
		// Nodes that are forced to go do so without regard to budgets.
		if n := least[b]; !forced(c.step.Reason) && (n > max(b.allowed, 1) || n > b.allowed && !c.byForce()) {
			c.report.add(CodePodBudget, "poddisruptionbudget/"+b.name, "%d pods are disrupted in one wave, disruptionsAllowed is %d", n, b.allowed)
		}
	}
	told := make(map[string]bool)
	for _, u := range c.step.PodDisruptionBudgets {
		object := "poddisruptionbudget/" + u.Budget
		if told[u.Budget] {
			c.report.add(CodeBudgetUse, object, "is listed twice")
		}
		told[u.Budget] = true
		b, found := lo.Find(c.cluster.budgets, func(b *podBudget) bool { return b.name == u.Budget })
		if !found {
			c.report.add(CodeBudgetUse, object, "is not there")
		} else if u.Pods < least[b] || u.Pods > most[b] || u.Allowed != b.allowed {
			c.report.add(CodeBudgetUse, object, "the step states %d disrupted pods of %d allowed, and has %d of %d", u.Pods, u.Allowed, most[b], b.allowed)
		}
	}
	for _, b := range c.cluster.budgets {
		if least[b] > 0 && !told[b.name] {
			c.report.add(CodeBudgetUse, "poddisruptionbudget/"+b.name, "%d pods are disrupted, and the step does not list the budget", least[b])
		}
	}
}

// byForce reports whether draining a node of the step ends by force, so that pods go, one
// after the other, even if a budget allows none.
func (c *budgetCheck) byForce() bool {
	return c.step.Reason == disruption.Drifted && slices.ContainsFunc(c.going, (*clusterNode).graceful)
}

// nodeBudgets checks that the pools let as many of their nodes go at once, and the step's own figures.
func (c *budgetCheck) nodeBudgets() {
	goes := make(map[*snapshot.Pool]int)
	for _, s := range c.going {
		if s.node.Pool != nil {
			goes[s.node.Pool]++
		}
	}
	binding := !forced(c.step.Reason)
	told := make(map[string]bool)
	for _, u := range c.step.NodePools {
		object := "nodepool/" + u.NodePool
		pl := c.cluster.state.Pools[u.NodePool]
		switch {
		case told[u.NodePool]:
			c.report.add(CodeBudgetUse, object, "is listed twice")
		case pl == nil || goes[pl] == 0:
			c.report.add(CodeBudgetUse, object, "the step drains no node of this NodePool")
		default:
			room, counted := c.allowance(pl)
			if u.Nodes != goes[pl] || binding && u.Allowed != min(room, counted) {
				c.report.add(CodeBudgetUse, object, "the step states %d removed nodes of %d allowed, and has %d of %d", u.Nodes, u.Allowed, goes[pl], min(room, counted))
			}
		}
		told[u.NodePool] = true
	}
	for _, pl := range c.cluster.state.SortedPools() {
		if !binding || goes[pl] == 0 {
			continue
		}
		if room, _ := c.allowance(pl); goes[pl] > room {
			c.report.add(CodeNodeBudget, "nodepool/"+pl.Object.Name, "%d nodes are removed at once, the NodePool's budgets allow %d", goes[pl], room)
		}
		if !told[pl.Object.Name] {
			c.report.add(CodeBudgetUse, "nodepool/"+pl.Object.Name, "%d nodes are removed, and the step does not list the budget", goes[pl])
		}
	}
}

// allowance returns how many nodes of the pool may go now for the step's reason (room), and the nodes that the pool's
// budgets count: initialized ones whose machines are not shut down. Nodes that are not ready or are being removed use
// the allowance up.
func (c *budgetCheck) allowance(pl *snapshot.Pool) (room, counted int) {
	away := 0
	for _, s := range c.cluster.nodes {
		if s.node.Pool != pl || snapshot.InFlight(s.node.Running) || s.machine.Terminating {
			continue
		}
		if counted++; !readyNode(s.node.Running) || s.node.Leaves() {
			away++
		}
	}
	least := budgeted(pl.Object, c.step.Reason, counted, c.cluster.rules.now)
	if least == math.MaxInt {
		return least, counted
	}
	return max(0, least-away), counted
}

// budgeted is how many of so many nodes may be away at once: the least that any budget says
// which is about the reason and in force, MaxInt where none is.
func budgeted(np *scheduling.NodePool, reason disruption.Reason, nodes int, now time.Time) int {
	budgets := np.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		budgets = []scheduling.Budget{{Nodes: "10%"}}
	}
	least := math.MaxInt
	for _, b := range budgets {
		if !isAbout(b, reason) {
			continue
		}
		if b.Schedule != nil && b.Duration != nil && !openAt(*b.Schedule, b.Duration.Duration, now) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(b.Nodes, "%"))
		if err != nil {
			n = 0
		} else if strings.HasSuffix(b.Nodes, "%") {
			n = int(math.Ceil(float64(n) * float64(nodes) / 100))
		}
		least = min(least, n)
	}
	return least
}

// isAbout reports whether the budget is about the reason. Budgets know three of them.
func isAbout(b scheduling.Budget, reason disruption.Reason) bool {
	name, known := map[disruption.Reason]string{
		disruption.Underutilized: "Underutilized", disruption.Empty: "Empty", disruption.Drifted: "Drifted",
	}[reason]
	return known && (len(b.Reasons) == 0 || slices.Contains(b.Reasons, name))
}

// openAt reports whether a time is within the duration after some hit of the schedule.
func openAt(schedule string, lasts time.Duration, now time.Time) bool {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + schedule)
	if err != nil {
		return true
	}
	hit := s.Next(now.UTC().Add(-lasts))
	return !hit.IsZero() && !hit.After(now)
}
