package disruption

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/budget"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// poolState is a NodePool with the sums over its nodes.
type poolState struct {
	pool    *scheduling.NodePool
	catalog *instancetypes.Catalog
	// required are the pool's requirements of nodes.
	required requirements.Set
	budgets  budget.Active
	// nodes counts the initialized nodes, of which percentages in budgets are; unavailable are those of them that are
	// not ready or being removed.
	nodes, unavailable int
	sums               pricing.Pool
}

// countInPool adds a node to the sums of its pool, or subtracts it with sign -1.
func (f *state) countInPool(s *candidate, sign int) {
	p := s.pool
	if p == nil {
		return
	}
	p.sums.Add(s.price, s.cost, sign)
	if s.initialized() && !s.machine.Terminating {
		p.nodes += sign
		if !ready(s.node) || s.beingRemoved() {
			p.unavailable += sign
		}
	}
}

// budgetReason is the name of a reason in budgets; "" for reasons that ask no budget.
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

// poolAllowance is how many more nodes of a pool its budgets let be removed for a reason now.
func (f *state) poolAllowance(p *poolState, reason Reason) int {
	n := p.budgets.Allowed(budgetReason(reason), p.nodes)
	if n == budget.Unbounded {
		return budget.Unbounded
	}
	return max(0, n-p.unavailable)
}

// poolBudgetCause is the cause if the budgets of a pool do not allow so many nodes; nil if they do.
func (f *state) poolBudgetCause(p *poolState, reason Reason, nodes int) *Cause {
	allowed := f.poolAllowance(p, reason)
	if nodes <= allowed || f.searching && allowed > 0 {
		return nil
	}
	detail := fmt.Sprintf("the budgets allow %d of %d nodes to be disrupted at once for the reason %q", allowed, p.nodes, budgetReason(reason))
	if p.unavailable > 0 {
		detail += fmt.Sprintf(", and %d are unavailable already", p.unavailable)
	}
	return &Cause{Code: CausePoolBudget, Object: "nodepool/" + p.pool.Name, Detail: detail}
}

// offered reports whether a NodePool may have nodes with a value of a label.
func (f *state) offered(key, value string) bool {
	return slices.ContainsFunc(f.ordered, func(p *poolState) bool {
		own, fixed := p.pool.Spec.Template.Metadata.Labels[key]
		return p.required.Get(key).Has(value) && (!fixed || own == value)
	})
}

// totals are the expected price of all nodes of pools, and the disruption cost of removing them.
func (f *state) totals() (price offerings.Price, cost float64) {
	for _, p := range f.ordered {
		price, cost = offerings.Sum(price, p.sums.Price), cost+p.sums.Cost
	}
	return price, cost
}

// price is the expected price of all nodes of pools.
func (f *state) price() offerings.Price {
	price, _ := f.totals()
	return price
}

// tally has the sums over nodes of pools, as in candidate.
type tally struct {
	price, machinePrice offerings.Price // USD per hour
	nodes, unpriced     int
}

// tally adds up the nodes that have not been removed.
func (f *state) tally() tally {
	var t tally
	for _, s := range f.nodes {
		if !s.removed {
			t.add(s)
		}
	}
	return t
}

// add adds a node, unless no pool owns it.
func (t *tally) add(s *candidate) {
	switch {
	case s.pool == nil:
	case !s.priced:
		t.unpriced++
	default:
		t.nodes++
		t.price, t.machinePrice = offerings.Sum(t.price, s.price), offerings.Sum(t.machinePrice, s.machinePrice)
	}
}
