package disruption

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// unbounded is how many nodes may go where no budget says anything.
const unbounded = math.MaxInt32

// defaultBudget holds for pools without any.
const defaultBudget = "10%"

// budgetReason is what budgets call a reason; "" where budgets say nothing about it.
func budgetReason(r Reason) string {
	switch r {
	case Drifted:
		return "Drifted"
	case Empty:
		return "Empty"
	case Underutilized:
		return "Underutilized"
	default:
		return ""
	}
}

// inForce are the budgets of a pool that hold now. One that cannot be read (which
// validation refuses) holds, and lets no node go.
func inForce(pool *scheduling.NodePool, now time.Time) []scheduling.Budget {
	budgets := pool.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		return []scheduling.Budget{{Nodes: defaultBudget}}
	}
	var out []scheduling.Budget
	for _, b := range budgets {
		switch open, err := budgetOpen(&b, now); {
		case err != nil:
			b.Nodes = "0"
		case !open:
			continue
		}
		out = append(out, b)
	}
	return out
}

// budgetOpen reports whether a budget holds now.
func budgetOpen(b *scheduling.Budget, now time.Time) (bool, error) {
	if b.Schedule == nil && b.Duration == nil {
		return true, nil
	}
	if b.Schedule == nil || b.Duration == nil {
		return false, errors.New("schedule and duration belong together")
	}
	w, err := parseWindow(*b.Schedule, b.Duration.Duration)
	if err != nil {
		return false, err
	}
	return w.open(now), nil
}

// allowance is how many of so many nodes budgets in force let be away at once for a reason:
// the least of those that are about it.
func allowance(budgets []scheduling.Budget, reason Reason, nodes int) int {
	name := budgetReason(reason)
	if name == "" {
		return unbounded
	}
	least := unbounded
	for i := range budgets {
		b := &budgets[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, name) {
			continue
		}
		n, ok := shareOf(b.Nodes, nodes)
		if !ok {
			n = 0
		}
		least = min(least, n)
	}
	return least
}

// shareOf reads a count or a percentage, which is rounded up.
func shareOf(text string, of int) (int, bool) {
	v := intstr.Parse(text)
	return scaled(&v, of)
}

// window is a time that comes again and again: from each hit of a schedule for a while.
type window struct {
	schedule cron.Schedule
	lasts    time.Duration
}

// parseWindow reads a cron expression of five fields, or @hourly and its kin, in UTC.
func parseWindow(expression string, lasts time.Duration) (*window, error) {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + expression)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", expression, err)
	}
	return &window{schedule: s, lasts: lasts}, nil
}

// open reports whether the window is open: some hit is not in the future, and not as long
// ago as the window lasts. Hits within an open window keep it open for longer.
func (w *window) open(now time.Time) bool {
	now = now.UTC()
	hit := w.schedule.Next(now.Add(-w.lasts))
	// A schedule that never hits, such as one for 30 February, has no next time.
	return !hit.IsZero() && !hit.After(now)
}

// podBudget is a PodDisruptionBudget as plans see it.
type podBudget struct {
	name      string // namespace/name
	unhealthy bool   // pods that are not ready may always go
	allowed   int    // how many pods may be away at once
}

// podBudgets are the PodDisruptionBudgets of a cluster, by name, to be found by pod.
type podBudgets struct {
	list    []*podBudget
	targets *podspec.Targets // what they select, under the same numbers
}

// newPodBudgets reads valid budgets. The pods are all that count for them.
func newPodBudgets(budgets []*policyv1.PodDisruptionBudget, pods []*corev1.Pod) *podBudgets {
	g := &podBudgets{targets: podspec.NewTargets()}
	sorted := slices.Clone(budgets)
	slices.SortFunc(sorted, func(a, b *policyv1.PodDisruptionBudget) int {
		return strings.Compare(budgetName(a), budgetName(b))
	})
	counted := make(map[*podBudget]*podCount, len(sorted))
	for _, b := range sorted {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			continue // refused by validation
		}
		rule := b.Spec.UnhealthyPodEvictionPolicy
		x := &podBudget{name: budgetName(b), unhealthy: rule != nil && *rule == policyv1.AlwaysAllow}
		g.list = append(g.list, x)
		g.targets.Add(x.name, func() podspec.Target {
			return podspec.Target{Selectors: []podspec.PodSelector{{Namespaces: map[string]bool{podspec.OrDefault(b.Namespace): true}, Labels: selector}}}
		})
		if !observed(b) {
			counted[x] = &podCount{spec: &b.Spec}
			continue
		}
		x.allowed = max(0, int(b.Status.DisruptionsAllowed))
	}
	if len(counted) > 0 {
		for _, pod := range pods {
			for _, x := range g.of(pod) {
				if n := counted[x]; n != nil {
					n.add(pod)
				}
			}
		}
		for x, n := range counted {
			x.allowed = n.allowed()
		}
	}
	return g
}

// budgetName names a PodDisruptionBudget.
func budgetName(b *policyv1.PodDisruptionBudget) string {
	return podspec.OrDefault(b.Namespace) + "/" + b.Name
}

// of returns the budgets that are about a pod, by name.
func (g *podBudgets) of(pod *corev1.Pod) []*podBudget {
	return lo.Map(g.targets.Sets[g.targets.Matched(podspec.NamespaceOf(pod), pod.Labels)], func(n int32, _ int) *podBudget { return g.list[n] })
}

// charges returns the budgets that count the eviction of a pod: none for one that they let
// go whenever it is not ready.
func (g *podBudgets) charges(pod *corev1.Pod) []*podBudget {
	found := g.of(pod)
	if len(found) == 1 && found[0].unhealthy && unready(pod) {
		return nil
	}
	return found
}

// reserveBudgets leaves steps that are under way as much of each budget as one of their waves
// may still use up.
func (f *state) reserveBudgets(underway []Step) {
	for i := range underway {
		taken, most := map[*podBudget]map[int]int{}, map[*podBudget]int{}
		for _, e := range underway[i].Evictions {
			pod := f.pods[e.Pod]
			if !e.ahead(pod) || !active(pod) {
				continue
			}
			for _, g := range f.podBudgets.charges(pod) {
				if taken[g] == nil {
					taken[g] = map[int]int{}
				}
				taken[g][e.Wave]++
				most[g] = max(most[g], taken[g][e.Wave])
			}
		}
		for g, n := range most {
			g.allowed = max(0, g.allowed-n)
		}
	}
}

// unready reports whether a pod is known not to be ready.
func unready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

// observed reports whether the status of a budget is that of its specification.
func observed(b *policyv1.PodDisruptionBudget) bool {
	s := &b.Status
	return s.ObservedGeneration >= b.Generation &&
		(s.ObservedGeneration > 0 || s.ExpectedPods > 0 || s.DesiredHealthy > 0 || s.CurrentHealthy > 0 || s.DisruptionsAllowed > 0)
}

// podCount counts the pods of a budget whose controller has not counted them.
type podCount struct {
	spec            *policyv1.PodDisruptionBudgetSpec
	expected, ready int
}

// add counts a pod.
func (n *podCount) add(pod *corev1.Pod) {
	if podspec.Terminal(pod) {
		return
	}
	n.expected++
	if pod.DeletionTimestamp == nil && healthy(pod) {
		n.ready++
	}
}

// healthy reports whether a pod is taken to be ready: it says so, or has a node and says
// nothing to the contrary.
func healthy(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodPending
}

// allowed is how many of the pods may be away: those that are ready beyond the number
// that has to be. Percentages are of the pods that there should be, and rounded up, as the
// disruption controller does it.
func (n *podCount) allowed() int {
	var desired int
	switch {
	case n.spec.MaxUnavailable != nil:
		away, ok := scaled(n.spec.MaxUnavailable, n.expected)
		if !ok {
			return 0
		}
		desired = max(0, n.expected-away)
	case n.spec.MinAvailable != nil:
		stay, ok := scaled(n.spec.MinAvailable, n.expected)
		if !ok {
			return 0
		}
		desired = stay
	default:
		return 0 // the disruption controller lets none go of what says nothing
	}
	return max(0, n.ready-desired)
}

// scaled reads a count that is not negative or a percentage, which is rounded up.
func scaled(v *intstr.IntOrString, of int) (int, bool) {
	if v.Type == intstr.Int {
		return int(max(0, v.IntVal)), v.IntVal >= 0
	}
	digits, percent := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !percent || err != nil || n < 0 || strings.HasPrefix(digits, "+") {
		return 0, false
	}
	return int(min((n*int64(of)+99)/100, math.MaxInt32)), true
}
