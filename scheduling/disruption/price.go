package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// boughtAt is the offering that a node was bought at, on sale or not, and its type; nil where
// the catalog does not tell. A node of a reservation is that of its own reservation.
func boughtAt(node *corev1.Node, catalog *instancetypes.Catalog) (*instancetypes.InstanceType, *offerings.Offering) {
	key := instancetypes.OfferingOf(node)
	if key.CapacityType != offerings.Reserved {
		key.ReservationID = ""
	}
	return listed(catalog, key)
}

// listed is an offering of a catalog, and its type; nil where there is none.
func listed(catalog *instancetypes.Catalog, key offerings.Key) (*instancetypes.InstanceType, *offerings.Offering) {
	o, ok := catalog.Lookup(key)
	if !ok {
		return nil, nil
	}
	t, _ := catalog.Get(key.InstanceType)
	return t, &o
}

// costs is the expected price of an option of a launch, see [scheduling.Policy.ExpectedPrice].
func (f *state) costs(l *scheduling.Launch, x *scheduling.Option) offerings.Price {
	solver := &f.planner.Policy
	if solver.Interruption != (scheduling.Interruption{}) {
		if t, o := listed(f.problem.CatalogOf(l.NodePool), x.Key()); t != nil {
			return solver.ExpectedPrice(t, o)
		}
	}
	return clampPrice(x.Price, solver.NodeOverhead)
}

// costOf is the expected price of what a launch buys, its first option.
func (f *state) costOf(l *scheduling.Launch) offerings.Price {
	if len(l.Options) == 0 {
		return clampPrice(l.Price, f.planner.Policy.NodeOverhead)
	}
	return f.costs(l, &l.Options[0])
}

// spent is what launches are expected to cost, by their first options.
func (f *state) spent(launches []scheduling.Launch) offerings.Price {
	var sum offerings.Price
	for i := range launches {
		sum = clampPrice(sum, f.costOf(&launches[i]))
	}
	return sum
}

// clampPrice adds prices and stops at the largest one.
func clampPrice(a, b offerings.Price) offerings.Price {
	sum, _ := a.Plus(b)
	return sum
}

// bounds of what one pod counts, as Karpenter has them.
const (
	cheapestPod = -10
	dearestPod  = 10
)

// PodDisruptionCost is what evicting a pod costs unless [Planner.PodCost] says otherwise:
// 1 for a pod of no special worth, more for those of high priority or with a high
// controller.kubernetes.io/pod-deletion-cost, less for low ones; at least -10, at most 10.
// It is Karpenter's formula. An annotation that is no number is ignored. Plans count what
// is below 0 as 0. No pod (nil) costs 0.
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

// podCost is what evicting a pod counts in plans.
func (f *state) podCost(pod *corev1.Pod) float64 {
	cost := f.planner.PodCost
	if cost == nil {
		cost = PodDisruptionCost
	}
	n := cost(pod)
	if math.IsNaN(n) || n < 0 {
		return 0
	}
	return min(n, math.MaxFloat32) // so that sums stay finite
}

// removal is what removing a node with these pods counts.
func (f *state) removal(movers []*corev1.Pod) float64 {
	cost := f.nodeCost
	for _, pod := range movers {
		cost += f.podCost(pod)
	}
	return cost
}

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

// price is what all nodes of pools cost.
func (f *state) price() offerings.Price {
	price, _ := f.totals()
	return price
}

// within reports whether the budgets of pools let nodes go at once for a reason.
func (f *state) within(reason Reason, nodes []string) bool {
	return reason == Expired || !slices.ContainsFunc(f.moveOf(nodes).pools, func(x *poolShare) bool { return f.crowded(x.pool, reason, x.nodes) != nil })
}

// ratio is what is saved for each unit of disruption.
func ratio(saving offerings.Price, cost float64) float64 { return float64(saving) / max(cost, 1e-9) }

// tally is what the nodes of pools come to at some time.
type tally struct {
	price, paid     offerings.Price // as in candidate
	nodes, unpriced int
}

// tally adds up the nodes that are there.
func (f *state) tally() tally {
	var t tally
	for _, s := range f.nodes {
		if !s.gone {
			t.add(s)
		}
	}
	return t
}

// add counts a node, unless no pool owns it.
func (t *tally) add(s *candidate) {
	switch {
	case s.pool == nil:
	case !s.priced:
		t.unpriced++
	default:
		t.nodes++
		t.price, t.paid = clampPrice(t.price, s.price), clampPrice(t.paid, s.paid)
	}
}

// expects reports whether nodes are expected to cost something beside their machines.
func (f *state) expects() bool {
	return f.planner.Policy.NodeOverhead > 0 || f.planner.Policy.Interruption != (scheduling.Interruption{})
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
