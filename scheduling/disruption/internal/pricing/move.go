package pricing

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Pool has the sums over the nodes of a NodePool.
type Pool struct {
	Name string
	// Balanced says that the pool's policy is Balanced, so that moves need a least score.
	Balanced bool
	Price    offerings.Price // of all nodes whose price is known
	Cost     float64         // the disruption cost of removing all nodes
}

// Add adds a node to the sums, or subtracts it with sign -1.
func (p *Pool) Add(price offerings.Price, cost float64, sign int) {
	p.Price, p.Cost = offerings.Sum(p.Price, offerings.Price(sign)*price), p.Cost+float64(sign)*cost
}

// Move has the sums over nodes that are removed together.
type Move struct {
	// Pools are the shares of the pools in it, by name of the pool.
	Pools []*Share
	// Price is the expected price of the nodes, Cost the disruption cost of removing them.
	Price offerings.Price
	Cost  float64
	// Unpriced says that the price of one of the nodes is not known.
	Unpriced bool
}

// Share has the sums over the nodes of a move that belong to one pool.
type Share struct {
	Pool  *Pool
	Nodes int
	Price offerings.Price
	Cost  float64
}

// Add adds a node; pool is nil for a node without one.
func (m *Move) Add(pool *Pool, price offerings.Price, priced bool, cost float64) {
	m.Price, m.Cost = offerings.Sum(m.Price, price), m.Cost+cost
	m.Unpriced = m.Unpriced || !priced
	if pool == nil {
		return
	}
	i, ok := slices.BinarySearchFunc(m.Pools, pool, func(x *Share, p *Pool) int { return strings.Compare(x.Pool.Name, p.Name) })
	if !ok {
		m.Pools = slices.Insert(m.Pools, i, &Share{Pool: pool})
	}
	x := m.Pools[i]
	x.Nodes, x.Price, x.Cost = x.Nodes+1, offerings.Sum(x.Price, price), x.Cost+cost
}

// Score is the score of the move with a saving: the least score over its pools with policy Balanced, each with a share of
// the saving in proportion to the price of its nodes, and the pool with that score. Without such a pool it is the score
// of the move in the whole cluster, of which price and cost are the sums, and the pool is nil.
func (m *Move) Score(saving, price offerings.Price, cost float64) (float64, *Pool) {
	least, of := math.Inf(1), (*Pool)(nil)
	for _, x := range m.Pools {
		if !x.Pool.Balanced {
			continue
		}
		own := float64(saving)
		if m.Price > x.Price { // other nodes go with them
			own *= float64(x.Price) / float64(m.Price)
		}
		if n := Score(own, x.Cost, x.Pool.Price, x.Pool.Cost); of == nil || n < least {
			least, of = n, x.Pool
		}
	}
	if of != nil {
		return least, of
	}
	return Score(float64(saving), m.Cost, price, cost), nil
}
