package wave

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// Cluster is the cluster before a step.
type Cluster struct {
	// Pods are the pods on nodes, by name. Moves of pods that are not among them count for no budget.
	Pods    map[string]*corev1.Pod
	Budgets *eviction.Budgets
	Landing *landing.Landing
	// OutOfTime reports whether the deadline has passed.
	OutOfTime func() bool
}

// Step has the pods to evict.
type Step struct {
	// Moves are sorted by wave, and their waves are set.
	Moves []landing.Move
	// Early are pods that leave before all others, in waves of their own, because otherwise kube-scheduler leaves them
	// without a node. nil is none.
	Early map[string]bool
	// AtOnce says that all pods leave at once, because the machine is interrupted and does not wait.
	AtOnce bool
	// Unordered says that pods may leave at once where there is no order, because expiry asks no budget.
	Unordered bool
}

// Use is how many pods of a PodDisruptionBudget are away at the same time at most, and how many may be. Budget is
// namespace/name.
type Use struct {
	Budget  string
	Pods    int
	Allowed int
}

// Assign divides the moves of a step into waves, and returns the use of PodDisruptionBudgets. A budget that allows d of its
// n evicted pods to be away makes ceil(n/d) waves. Pods without a budget leave in the first wave; those of them that
// depend on other pods by topology spread or pod affinity leave in the last, when the others run again. If pods of several
// waves depend on each other, an order is found in which each can be scheduled, because rules that hold after the step
// need not hold on the way: try begins a trial of the step for that. Assign reports false if there is no order.
//
// A budget that allows no disruption is only used by steps for interruption, expiry and drift, which evict its pods one
// by one.
func (c *Cluster) Assign(s *Step, try func() *landing.Trial) ([]Use, bool) {
	w := c.build(s, nil)
	n := len(s.Moves)
	if s.AtOnce || n == 0 || s.Moves[n-1].Wave == 1 || !slices.ContainsFunc(s.Moves, c.dependsOnOrder) {
		return w.uses(), true
	}
	w = c.build(s, try())
	if !w.ok && s.Unordered && !c.OutOfTime() {
		// Evicting all pods at once is better than keeping the node.
		return c.build(&Step{AtOnce: true, Moves: s.Moves}, nil).uses(), true
	}
	return w.uses(), w.ok
}

// InBudgets divides the moves of a step into waves by PodDisruptionBudgets alone.
func (c *Cluster) InBudgets(s *Step) []Use { return c.build(s, nil).uses() }

// dependsOnOrder reports whether a pod has a budget, so that it leaves after other pods, and rules about other pods.
func (c *Cluster) dependsOnOrder(m landing.Move) bool {
	pod := c.Pods[m.Pod]
	return pod != nil && c.Landing.Follows(m.Pod) && len(c.Budgets.Charges(pod)) > 0
}

// builder fills waves.
type builder struct {
	cluster *Cluster
	trial   *landing.Trial // nil to check no order
	atOnce  bool
	// immediate are moves for the first wave, charged those that a budget counts, last those for the last wave.
	immediate, charged, last []*landing.Move
	wave                     int                      // the number of the next
	used                     map[*eviction.Budget]int // the most pods of a budget that are away at the same time
	ok                       bool                     // there is an order
}

// build assigns waves to the moves of a step, and sorts them by wave.
func (c *Cluster) build(s *Step, trial *landing.Trial) *builder {
	w := &builder{cluster: c, trial: trial, atOnce: s.AtOnce, used: map[*eviction.Budget]int{}, ok: true, wave: 1}
	list := s.Moves
	late := func(m landing.Move) int {
		if w.atOnce || s.Early[m.Pod] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b landing.Move) int {
		if by := cmp.Compare(late(a), late(b)); by != 0 || trial != nil {
			return by
		}
		return cmp.Compare(c.rank(a.Pod), c.rank(b.Pod)) // pods that depend on others go late, within a budget too
	})
	n := lo.CountBy(list, func(m landing.Move) bool { return late(m) == 0 })
	for _, part := range [][]landing.Move{list[:n], list[n:]} {
		if len(part) > 0 && w.ok {
			w.classify(part)
			w.fill()
		}
	}
	slices.SortStableFunc(list, Compare)
	return w
}

// Compare orders moves by wave, then by pod.
func Compare(a, b landing.Move) int {
	return cmp.Or(cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Pod, b.Pod))
}

// classify divides moves into immediate, charged and last.
func (w *builder) classify(list []landing.Move) {
	c := w.cluster
	w.immediate, w.charged, w.last = nil, nil, nil
	apart := slices.ContainsFunc(list, func(m landing.Move) bool { return c.Landing.Repels(m.Pod) })
	for i := range list {
		m := &list[i]
		pod := c.Pods[m.Pod]
		m.Wave = w.wave
		switch {
		case pod == nil:
		case eviction.Active(pod) && len(c.Budgets.Charges(pod)) > 0:
			w.charged = append(w.charged, m)
		case !w.atOnce && (eviction.Active(pod) || w.trial != nil) && (apart || c.Landing.Follows(m.Pod)):
			w.last = append(w.last, m)
		default: // it depends on no other pod, or is being deleted anyway
			w.immediate = append(w.immediate, m)
		}
	}
}

// rank orders pods by their dependence on others: 0 for none, 1 for rules of their own, 2 for anti-affinity, which keeps
// other pods away.
func (c *Cluster) rank(pod string) int {
	switch {
	case c.Landing.Repels(pod):
		return 2
	case c.Landing.Follows(pod):
		return 1
	}
	return 0
}

// fill fills wave by wave with the pods whose budgets allow it and that can be scheduled.
func (w *builder) fill() {
	group := w.immediate
	if len(w.charged) == 0 {
		w.wave++
	}
	for ; len(w.charged) > 0; w.wave++ {
		chosen := w.choose(group)
		if len(chosen) == 0 { // no pod can be scheduled, or the deadline has passed
			w.charge(w.used, w.charged[0])
			w.ok = false
			return
		}
		group = append(group, chosen...)
		w.charged = slices.DeleteFunc(slices.Clone(w.charged), func(m *landing.Move) bool { return slices.Contains(chosen, m) })
		taken := map[*eviction.Budget]int{}
		for _, m := range chosen {
			w.charge(taken, m)
		}
		for g, n := range taken {
			w.used[g] = max(w.used[g], n)
		}
		if len(w.charged) == 0 && len(w.last) > 0 && w.possible(slices.Concat(group, w.last), true) {
			group, w.last = append(group, w.last...), nil
		}
		if !w.possible(group, false) {
			w.ok = false
			return
		}
		if setWave(group, w.wave); len(w.charged) == 0 && len(w.last) > 0 {
			w.wave++
			w.ok = w.possible(w.last, false) && w.ok
			setWave(w.last, w.wave)
		}
		group = nil
	}
}

// choose are charged moves that can join a group: their budgets allow it, and all pods can be scheduled.
func (w *builder) choose(group []*landing.Move) (chosen []*landing.Move) {
	taken := map[*eviction.Budget]int{}
	for _, m := range w.charged {
		full := func(g *eviction.Budget) bool { return !w.atOnce && taken[g] >= max(g.Allowed, 1) }
		if slices.ContainsFunc(w.budgetsOf(m), full) {
			continue
		}
		if w.trial != nil && w.trial.Independent(w.trial.Pods[m.Pod]) || w.possible(append(slices.Concat(group, chosen), m), true) {
			chosen = append(chosen, m)
			w.charge(taken, m)
		}
	}
	return chosen
}

// budgetsOf are the budgets that count the eviction of a pod.
func (w *builder) budgetsOf(m *landing.Move) []*eviction.Budget {
	return w.cluster.Budgets.Charges(w.cluster.Pods[m.Pod])
}

// charge counts an eviction for the budgets of its pod.
func (w *builder) charge(taken map[*eviction.Budget]int, m *landing.Move) {
	for _, g := range w.budgetsOf(m) {
		taken[g]++
	}
}

// possible reports whether pods that leave at the same time can all be scheduled; false if the deadline has passed.
// With only, the trial stays as it is.
func (w *builder) possible(group []*landing.Move, only bool) bool {
	if w.trial == nil {
		return true
	}
	pods := lo.Map(group, func(m *landing.Move, _ int) *landing.Pod { return w.trial.Pods[m.Pod] })
	return !w.cluster.OutOfTime() && w.trial.Possible(pods, only)
}

// setWave sets the wave of moves.
func setWave(group []*landing.Move, wave int) {
	for _, m := range group {
		m.Wave = wave
	}
}

// uses is the use of PodDisruptionBudgets, by name.
func (w *builder) uses() []Use {
	var out []Use
	for g, n := range w.used {
		out = append(out, Use{Budget: g.Name, Pods: n, Allowed: g.Allowed})
	}
	slices.SortFunc(out, func(a, b Use) int { return strings.Compare(a.Budget, b.Budget) })
	return out
}
