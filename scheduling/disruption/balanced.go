package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// defaultBalancedK is k where nothing else is set: a move has to save at least half the
// share that it disrupts.
const defaultBalancedK = 2

// scoreMove is the share of a price that is saved over the share of a disruption cost that
// is spent: 0 where nothing is saved or there is nothing to compare with, and infinite
// where saving disrupts nothing.
func scoreMove(saving offerings.Price, disruption float64, price offerings.Price, total float64) float64 {
	switch {
	case saving <= 0 || price <= 0 || total <= 0:
		return 0
	case disruption <= 0:
		return math.Inf(1)
	}
	return float64(saving) / float64(price) / (disruption / total)
}

// move is what scoring needs to know of the removal of nodes.
type move struct {
	pools []*poolShare // by name
	// price is what the nodes cost, cost what removing them counts.
	price offerings.Price
	cost  float64
	// unpriced says that the price of some node is not known.
	unpriced bool
}

// poolShare is the part of a move that is about one pool.
type poolShare struct {
	pool  *poolState
	nodes int
	price offerings.Price
	cost  float64
}

// moveOf adds nodes up.
func (f *state) moveOf(nodes []string) *move {
	m := &move{}
	for _, name := range nodes {
		s := f.at[name]
		if s == nil {
			continue
		}
		m.price, m.cost = clampPrice(m.price, s.price), m.cost+s.cost
		m.unpriced = m.unpriced || !s.priced
		if s.pool == nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(m.pools, s.pool, func(x *poolShare, p *poolState) int { return strings.Compare(x.pool.pool.Name, p.pool.Name) })
		if !ok {
			m.pools = slices.Insert(m.pools, i, &poolShare{pool: s.pool})
		}
		x := m.pools[i]
		x.nodes, x.price, x.cost = x.nodes+1, clampPrice(x.price, s.price), x.cost+s.cost
	}
	return m
}

// score is that of a move which saves so much: the least of the scores of pools with
// policy Balanced, with the saving split by what each pool's nodes cost, and the pool that
// has it; without such a pool that of the move in the cluster.
func (f *state) score(m *move, saving offerings.Price) (float64, *poolState) {
	least, of := math.Inf(1), (*poolState)(nil)
	for _, x := range m.pools {
		if !x.pool.balanced() {
			continue
		}
		own := saving
		if m.price > x.price { // other nodes go with them
			own = offerings.Price(float64(saving) * (float64(x.price) / float64(m.price)))
		}
		if n := scoreMove(own, x.cost, x.pool.price, x.pool.cost); of == nil || n < least {
			least, of = n, x.pool
		}
	}
	if of != nil {
		return least, of
	}
	price, cost := f.totals()
	return scoreMove(saving, m.cost, price, cost), nil
}

// totals are what all nodes of pools cost, and removing them.
func (f *state) totals() (price offerings.Price, cost float64) {
	for _, p := range f.ordered {
		price, cost = clampPrice(price, p.price), cost+p.cost
	}
	return price, cost
}

// threshold is the least score of moves in pools with policy Balanced.
func (f *state) threshold() float64 {
	return 1 / cmp.Or(f.planner.BalancedK, defaultBalancedK)
}

// unworthy says that a move is not worth its disruption in some pool with policy Balanced.
func (f *state) unworthy(m *move, saving offerings.Price) *Cause {
	score, pool := f.score(m, saving)
	if pool == nil || score >= f.threshold() {
		return nil
	}
	return &Cause{
		Code: CauseScore, Object: "nodepool/" + pool.pool.Name,
		Detail: fmt.Sprintf("the share that is saved is %.3g of the share that is disrupted, and has to be at least %.3g", score, f.threshold()),
	}
}

// finite is a score that can be written down.
func finite(score float64) float64 { return min(score, math.MaxFloat64) }
