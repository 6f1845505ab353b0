package verify

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// podBudget is a PodDisruptionBudget.
type podBudget struct {
	name    string // namespace/name
	space   string
	labels  []expression
	nobody  bool
	anyIll  bool // pods that are not ready may always go
	allowed int  // how many pods may be away at once
}

// podBudgetsOf reads the budgets. What their controller has not counted is counted here.
func podBudgetsOf(c disruption.Cluster) []*podBudget {
	var out []*podBudget
	for _, b := range c.PodDisruptionBudgets {
		if b == nil {
			continue
		}
		g := &podBudget{space: cmp.Or(b.Namespace, metav1.NamespaceDefault)}
		g.name = g.space + "/" + b.Name
		var ok bool
		g.labels, ok = selected(b.Spec.Selector)
		g.nobody = !ok
		g.anyIll = b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		if s := &b.Status; counted(s) && s.ObservedGeneration >= b.Generation {
			g.allowed = int(s.DisruptionsAllowed)
		} else {
			g.allowed = g.count(b, c)
		}
		out = append(out, g)
	}
	return out
}

// counted reports whether the status says anything.
func counted(s *policyv1.PodDisruptionBudgetStatus) bool {
	return s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0
}

// count is how many pods may be away, as the disruption controller counts: those that are
// ready, less those that have to be. Shares are of the pods that there are, rounded up.
func (g *podBudget) count(b *policyv1.PodDisruptionBudget, c disruption.Cluster) int {
	seen := make(map[string]bool)
	all, ready := 0, 0
	for _, list := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range list {
			if finished(pod) || seen[podName(pod)] || !g.about(pod) {
				continue
			}
			seen[podName(pod)] = true
			all++
			if pod.DeletionTimestamp == nil && well(pod) {
				ready++
			}
		}
	}
	var wanted int
	switch {
	case b.Spec.MaxUnavailable != nil:
		wanted = all - shareOf(b.Spec.MaxUnavailable, all)
	case b.Spec.MinAvailable != nil:
		wanted = shareOf(b.Spec.MinAvailable, all)
	default:
		return 0
	}
	return max(0, ready-max(0, wanted))
}

// shareOf reads a number or a share of all, rounded up.
func shareOf(n *intstr.IntOrString, all int) int {
	share, err := intstr.GetScaledValueFromIntOrPercent(n, all, true)
	if err != nil {
		return 0
	}
	return share
}

// about reports whether the budget counts the pod.
func (g *podBudget) about(pod *corev1.Pod) bool {
	return !g.nobody && namespaceOf(pod) == g.space && allOn(g.labels, pod.Labels)
}

// podBudgetIndex finds the budgets that may be about a pod: those that ask for one value of a
// label by that, the others by their namespace.
type podBudgetIndex map[string][]*podBudget

func (g *podBudget) page() string {
	for _, e := range g.labels {
		if e.op == corev1.NodeSelectorOpIn && len(e.values) == 1 {
			return g.space + "/" + e.key + "=" + e.values[0]
		}
	}
	return g.space
}

func (b podBudgetIndex) candidates(pod *corev1.Pod) []*podBudget {
	out := slices.Clone(b[namespaceOf(pod)])
	for key, value := range pod.Labels {
		out = append(out, b[namespaceOf(pod)+"/"+key+"="+value]...)
	}
	slices.SortFunc(out, func(a, b *podBudget) int { return strings.Compare(a.name, b.name) })
	return out
}

// podBudgetsFor are the budgets that count an eviction of the pod.
func (g *clusterState) podBudgetsFor(pod *corev1.Pod) []*podBudget {
	var out []*podBudget
	for _, b := range g.book.candidates(pod) {
		if b.about(pod) {
			out = append(out, b)
		}
	}
	if len(out) == 1 && out[0].anyIll && unwell(pod) {
		return nil
	}
	return out
}

// podBudgets checks that no wave takes more pods of a budget away than may be, and what the
// step says about that.
func (a *stepCheck) podBudgets() {
	most, least := make(map[*podBudget]int), make(map[*podBudget]int)
	type seat struct {
		budget *podBudget
		wave   int
	}
	evicted, leave := make(map[seat]int), make(map[seat]int)
	for _, m := range a.moves {
		if !live(m.pod) {
			continue // it is on its way out already
		}
		for _, b := range a.podBudgetsFor(m.pod) {
			at := seat{b, m.Wave}
			leave[at]++
			most[b] = max(most[b], leave[at])
			if a.evictable(m.pod) {
				evicted[at]++
				least[b] = max(least[b], evicted[at])
			}
		}
	}
	for _, b := range a.budgets {
		if forced(a.step.Reason) {
			continue // such nodes go whatever budgets say
		}
		if n := least[b]; n > max(b.allowed, 1) || n > b.allowed && !a.byForce() {
			a.add(PodBudget, "poddisruptionbudget/"+b.name, "%d pods are away in one wave, %d may be", n, b.allowed)
		}
	}
	told := make(map[string]bool)
	for _, u := range a.step.PodDisruptionBudgets {
		object := "poddisruptionbudget/" + u.Budget
		if told[u.Budget] {
			a.add(BudgetUse, object, "is listed twice")
		}
		told[u.Budget] = true
		found := false
		for _, b := range a.budgets {
			if b.name != u.Budget {
				continue
			}
			found = true
			if u.Pods < least[b] || u.Pods > most[b] || u.Allowed != b.allowed {
				a.add(BudgetUse, object, "%d pods of %d allowed are said to be away, it is %d of %d", u.Pods, u.Allowed, most[b], b.allowed)
			}
		}
		if !found {
			a.add(BudgetUse, object, "is not there")
		}
	}
	for _, b := range a.budgets {
		if least[b] > 0 && !told[b.name] {
			a.add(BudgetUse, "poddisruptionbudget/"+b.name, "%d pods are away, and the step does not say so", least[b])
		}
	}
}

// byForce reports whether draining a node of the step ends by force, so that pods go, one
// after the other, even if a budget allows none.
func (a *stepCheck) byForce() bool {
	for _, s := range a.going {
		if a.step.Reason == disruption.Drifted && a.graceOf(s, a.machineOf(s.name)) {
			return true
		}
	}
	return false
}

// nodeBudgets checks that the pools let so many of their nodes go at once, and what the
// step says about that.
func (a *stepCheck) nodeBudgets() {
	goes := make(map[*pool]int)
	for _, s := range a.going {
		if s.pool != nil {
			goes[s.pool]++
		}
	}
	binding := !forced(a.step.Reason)
	told := make(map[string]bool)
	for _, u := range a.step.NodePools {
		object := "nodepool/" + u.NodePool
		pl := a.pools[u.NodePool]
		switch {
		case told[u.NodePool]:
			a.add(BudgetUse, object, "is listed twice")
		case pl == nil || goes[pl] == 0:
			a.add(BudgetUse, object, "no node of it is drained")
		default:
			room, counted := a.allowance(pl)
			if u.Nodes != goes[pl] || binding && u.Allowed != min(room, counted) {
				a.add(BudgetUse, object, "%d nodes of %d allowed are said to go, it is %d of %d", u.Nodes, u.Allowed, goes[pl], min(room, counted))
			}
		}
		told[u.NodePool] = true
	}
	for _, pl := range a.sortedPools() {
		if !binding || goes[pl] == 0 {
			continue
		}
		if room, _ := a.allowance(pl); goes[pl] > room {
			a.add(NodeBudget, "nodepool/"+pl.Name, "%d nodes go at once, %d may", goes[pl], room)
		}
		if !told[pl.Name] {
			a.add(BudgetUse, "nodepool/"+pl.Name, "%d nodes go, and the step does not say so", goes[pl])
		}
	}
}

// allowance is how many nodes of the pool may go now for the step's reason, and how many
// it counts. Of these, nodes that do not work or are being removed use the allowance up.
func (a *stepCheck) allowance(pl *pool) (room, counted int) {
	f := nodeCount{}
	if there := a.nodeCounts[pl]; there != nil {
		f = *there
	}
	least := budgeted(pl.NodePool, a.step.Reason, f.counted, a.now)
	if least == math.MaxInt {
		return least, f.counted
	}
	return max(0, least-f.away), f.counted
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
	name := map[disruption.Reason]string{
		disruption.Underutilized: "Underutilized", disruption.Empty: "Empty", disruption.Drifted: "Drifted",
	}[reason]
	if name == "" {
		return false
	}
	for _, r := range b.Reasons {
		if r == name {
			return true
		}
	}
	return len(b.Reasons) == 0
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
