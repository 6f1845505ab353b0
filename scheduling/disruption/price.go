package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// The bounds of the disruption cost of a pod, as in Karpenter.
const (
	cheapestPod = -10
	dearestPod  = 10
)

// PodDisruptionCost is the disruption cost of evicting a pod unless [Planner.PodCost] is set: 1 for a pod of default
// priority, more with a higher priority or controller.kubernetes.io/pod-deletion-cost, less with lower ones; at least
// -10, at most 10. It is Karpenter's formula. An annotation that is no number is ignored. Plans count negative costs
// as 0. The cost of nil is 0.
func PodDisruptionCost(pod *corev1.Pod) float64 {
	if pod == nil {
		return 0
	}
	cost := 1.0
	if n, err := strconv.ParseFloat(pod.Annotations[corev1.PodDeletionCost], 64); err == nil && !math.IsNaN(n) {
		cost += n / (1 << 27)
	}
	if pod.Spec.Priority != nil {
		cost += float64(*pod.Spec.Priority) / (1 << 25)
	}
	return min(max(cost, cheapestPod), dearestPod)
}

// podCost is the disruption cost of a pod in plans: finite and not negative.
func (r *rules) podCost(pod *corev1.Pod) float64 {
	if scheduling.IsVirtual(pod) {
		return 0 // nothing runs in it
	}
	cost := r.planner.PodCost
	if cost == nil {
		cost = PodDisruptionCost
	}
	n := cost(pod)
	if math.IsNaN(n) || n < 0 {
		return 0
	}
	return min(n, math.MaxFloat32) // so that sums stay finite
}

// disruptionCost is the cost of removing a node from which these pods are evicted.
func (r *rules) disruptionCost(movers []*corev1.Pod) float64 {
	cost := r.nodeCost
	for _, pod := range movers {
		cost += r.podCost(pod)
	}
	return cost
}

// defaultBalancedK is the default of [Planner.BalancedK]: a move must save at least half the share that it disrupts.
const defaultBalancedK = 2

// moveOf adds up nodes. Unknown names are skipped.
func moveOf(f *state, nodes []string) *pricing.Move {
	m := &pricing.Move{}
	for _, name := range nodes {
		if s := f.byName[name]; s != nil {
			var pool *pricing.Pool
			if s.pool != nil {
				pool = &s.pool.sums
			}
			m.Add(pool, s.price, s.priced, s.cost)
		}
	}
	return m
}

// scoreOf is the score of a move with a saving, see [pricing.Move.Score].
func scoreOf(f *state, m *pricing.Move, saving offerings.Price) (float64, *pricing.Pool) {
	price, cost := f.totals()
	return m.Score(saving, price, cost)
}

// withinBudgets reports whether the budgets of NodePools allow nodes to be removed at once for a reason.
func withinBudgets(f *state, reason Reason, nodes []string) bool {
	return reason == Expired || !slices.ContainsFunc(moveOf(f, nodes).Pools, func(x *pricing.Share) bool { return f.poolBudgetCause(f.pools[x.Pool.Name], reason, x.Nodes) != nil })
}

// hoursPerMonth converts [Saving.PerMonth] to an hourly price.
const hoursPerMonth = 730

// leastSaving is the least saving of a move of nodes with a total price: more than 0, and at least
// [Planner.MinSaving].
func (r *rules) leastSaving(price offerings.Price) offerings.Price {
	least := max(1, r.planner.MinSaving.PerHour)
	if month := r.planner.MinSaving.PerMonth; month > 0 {
		least = max(least, (month-1)/hoursPerMonth+1)
	}
	if share := r.planner.MinSaving.Share; share > 0 {
		least = max(least, offerings.Price(math.Ceil(share*float64(price)*(1-1e-12))))
	}
	return least
}

// threshold is the least score of moves in pools with policy Balanced.
func (r *rules) threshold() float64 {
	return 1 / cmp.Or(r.planner.BalancedK, defaultBalancedK)
}

// scoreCause is the cause against a move whose score is too low in a pool with policy Balanced; nil if there is none.
func scoreCause(f *state, m *pricing.Move, saving offerings.Price) *Cause {
	score, pool := scoreOf(f, m, saving)
	if pool == nil || score >= f.rules.threshold() {
		return nil
	}
	return &Cause{
		Code: CauseScore, Object: "nodepool/" + pool.Name,
		Detail: fmt.Sprintf("score %.3g (share of the price saved by share of the disruption) is below %.3g", score, f.rules.threshold()),
	}
}

// finite is a score that JSON can represent.
func finite(score float64) float64 { return min(score, math.MaxFloat64) }
