package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// PodDisruptionCost is the disruption cost of evicting a pod unless [Planner.PodCost] is set: 1 for a pod of default
// priority, more with a higher priority or controller.kubernetes.io/pod-deletion-cost, less with lower ones; at least
// -10, at most 10. It is Karpenter's formula. An annotation that is no number is ignored. Plans count negative costs
// as 0. The cost of nil is 0.
func PodDisruptionCost(pod *corev1.Pod) float64 { return pricing.PodCost(pod) }

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

// scoreOf is the score of a move with a saving, as [pricing.Move.Score], but finite, because JSON has no infinite number.
func scoreOf(f *state, m *pricing.Move, saving offerings.Price) (float64, *pricing.Pool) {
	price, cost := f.totals()
	score, pool := m.Score(saving, price, cost)
	return min(score, math.MaxFloat64), pool
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
