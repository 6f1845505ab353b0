package verify

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// guard is a PodDisruptionBudget.
type guard struct {
	name    string // namespace/name
	space   string
	labels  []expression
	nobody  bool
	anyIll  bool // pods that are not ready may always go
	allowed int  // how many pods may be away at once
}

// guardsOf reads the budgets. What their controller has not counted is counted here.
func guardsOf(c disruption.Cluster) []*guard {
	var out []*guard
	for _, b := range c.PodDisruptionBudgets {
		if b == nil {
			continue
		}
		g := &guard{space: cmp.Or(b.Namespace, metav1.NamespaceDefault)}
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
func (g *guard) count(b *policyv1.PodDisruptionBudget, c disruption.Cluster) int {
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

// shareOf reads a number or a share of all.
func shareOf(n *intstr.IntOrString, all int) int {
	if n.Type == intstr.Int {
		return int(n.IntVal)
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(n.StrVal, "%"))
	if err != nil {
		return 0
	}
	return int(math.Ceil(float64(percent) * float64(all) / 100))
}

// about reports whether the budget counts the pod.
func (g *guard) about(pod *corev1.Pod) bool {
	return !g.nobody && namespaceOf(pod) == g.space && allOn(g.labels, pod.Labels)
}

// guardBook finds the budgets that may be about a pod: those that ask for one value of a
// label by that, the others by their namespace.
type guardBook map[string][]*guard

func (g *guard) page() string {
	for _, e := range g.labels {
		if e.op == corev1.NodeSelectorOpIn && len(e.values) == 1 {
			return g.space + "/" + e.key + "=" + e.values[0]
		}
	}
	return g.space
}

func (b guardBook) candidates(pod *corev1.Pod) []*guard {
	out := slices.Clone(b[namespaceOf(pod)])
	for key, value := range pod.Labels {
		out = append(out, b[namespaceOf(pod)+"/"+key+"="+value]...)
	}
	slices.SortFunc(out, func(a, b *guard) int { return strings.Compare(a.name, b.name) })
	return out
}

// guardsFor are the budgets that count an eviction of the pod.
func (g *ground) guardsFor(pod *corev1.Pod) []*guard {
	var out []*guard
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
func (a *act) podBudgets() {
	most, least := make(map[*guard]int), make(map[*guard]int)
	type seat struct {
		guard *guard
		wave  int
	}
	evicted, leave := make(map[seat]int), make(map[seat]int)
	for _, m := range a.moves {
		if !live(m.pod) {
			continue // it is on its way out already
		}
		for _, b := range a.guardsFor(m.pod) {
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
func (a *act) byForce() bool {
	for _, s := range a.going {
		if a.step.Reason == disruption.Drifted && a.graceOf(s, a.machineOf(s.name)) {
			return true
		}
	}
	return false
}
