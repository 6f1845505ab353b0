package fleet

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// Params bounds a search.
type Params struct {
	// Tries is the number of fleets tried beyond the constructed ones.
	Tries int
	// Brief keeps the order within a workload, so that equal pods are adjacent and are bound faster.
	Brief bool
	// Late reports whether the caller's deadline has passed; nil for no deadline.
	Late func() bool
}

// Fleet is machines to buy with the expected places of the pods: a solution of a packing whose parts are the
// planned classes, and whose options are the kinds of machines.
type Fleet struct {
	Packing  *instance.Packing
	Solution model.Solution
}

// Improve looks for machines that cost less than those of a plan after scheduling, for the pods that the plan
// places. It returns nil where it finds none in time.
func Improve(c *instance.Instance, plan *scheduling.Plan, params Params) *Fleet {
	if params.Late != nil && params.Late() || !priceDecides(c, plan) || c.HasTopologyTerms() && looks(c, plan) > mostWithTerms {
		return nil
	}
	p := newProblem(c, plan, params)
	if p == nil {
		return nil
	}
	p.courses = p.courses[:len(p.courses)-1] // the last course is kept for the final comparison, which must not use only courses that the search has optimized for
	given := p.kinds.newFleet()
	for _, m := range p.launched {
		given[m.kind]++
	}
	best, value := fleet(nil), p.estimate(given, math.Inf(1))
	tight := value
	p.choose()
	for _, tolerance := range tolerances() {
		if p.late() {
			return nil
		}
		f := p.construct(tolerance)
		if !p.allows(f) {
			continue
		}
		if v := p.estimate(f, value); v < value {
			best, value = f, v
		}
	}
	if best == nil {
		best = p.kinds.extended(given)
	}
	best, value = p.localSearch(best, value, min(params.Tries, int(mostLooks/(int64(len(p.courses))*looks(c, plan)))))
	if value >= tight || p.late() {
		return nil
	}
	out := p.complete(best, tight)
	if p.late() {
		return nil // its estimate is not known
	}
	return out
}

// How often nodes are looked at for pods in the search for fleets at most; and how often at most for
// all pods once for a search where pods depend on each other, which takes longer for each.
const (
	// mostLooks bounds the nodes examined in a search. mostWithTerms bounds them for binding all pods once where
	// pods have topology terms, because that takes longer for each.
	mostLooks     = 16_000_000
	mostWithTerms = 2_000_000
)

// looks estimates the nodes examined until all pods are bound.
func looks(c *instance.Instance, plan *scheduling.Plan) int64 {
	return max(1, c.PodCount()*int64(len(plan.Launches)+len(c.Nodes)))
}

// tolerances are how much less value per cost than the best a larger machine may have to be taken, because pods
// leave less room unused on large machines.
func tolerances() []float64 { return []float64{0, 0.02, 0.05} }

// priceDecides reports whether the policy chooses machines by price alone.
func priceDecides(c *instance.Instance, plan *scheduling.Plan) bool {
	for ti, v := range c.Templates {
		if c.Facts.Solver.Weights != scheduling.WeightIgnore && v.Pool.Weight() != c.Templates[0].Pool.Weight() || c.Offered[ti].Soft.Any() {
			return false
		}
	}
	return len(plan.Launches) > 0 && !c.Facts.Solver.FewestNodes && c.Facts.Solver.Ranking.Strategy != offerings.Prioritized &&
		c.Facts.Solver.MinValues != scheduling.MinValuesBestEffort && c.Facts.Solver.WorkloadShare == 0
}

// allows reports whether limits, reservations and spread constraints allow a fleet.
func (p *problem) allows(f fleet) bool {
	return p.spreads(f) && p.affords(f)
}

// affords reports whether limits and reservations allow a fleet.
func (p *problem) affords(f fleet) bool {
	l := instance.NewLedger(p.c)
	for k, n := range f {
		if n > 0 {
			l.Spend(p.kinds.list[k].offer, int64(n))
		}
	}
	for k, n := range f {
		if id := l.Reservation(p.kinds.list[k].offer); n > 0 && id != "" && l.Supply[id] < 0 {
			return false
		}
	}
	return !slices.ContainsFunc(l.Limits, func(limits []int64) bool { return slices.ContainsFunc(limits, func(n int64) bool { return n < 0 }) })
}

// complete gives each pod a place, with more machines if necessary: the node where it is bound when all
// machines join at once, or, where some pods are not, any place with room. It returns nil where the estimate is
// not below most.
func (p *problem) complete(f fleet, most float64) *Fleet {
	w, all := &p.courses[0], f.list()
	x := p.bind(all, w)
	if x.left > 0 && !p.c.HasTopologyTerms() {
		return p.packed(f, most)
	}
	more := p.buyForLeft(f, w, &x)
	f = p.kinds.extended(f)
	for _, k := range more {
		f[k]++
	}
	if x.left > 0 || len(more) > 0 && (!p.allows(f) || p.estimate(f, most) >= most) {
		return nil
	}
	var machines []int32
	for _, i := range x.joined {
		machines = append(machines, all[i])
	}
	machines = append(machines, more...)
	return p.answer(machines, p.bound(len(machines), w, &x))
}

// packOnto packs pods, by class, onto nodes and onto new machines within the limits that the ledger has left.
func (p *problem) packOnto(nodes []model.Bin, pods []int64, ledger *instance.Ledger) model.Solution {
	m := *p.c.Unsited().Model
	m.Bins, m.Rooms, m.Open = nodes, nil, nil
	m.Classes, m.Pools = slices.Clone(m.Classes), slices.Clone(m.Pools)
	for i := range m.Classes {
		m.Classes[i].Count = pods[i]
	}
	for i := range m.Pools {
		m.Pools[i].Limits = ledger.Limits[i]
	}
	return pack.Search(&m, pack.Params{Late: p.late, Snug: true}).Solution
}

// packed packs the pods onto the machines of a fleet, and onto new machines if these have no room.
func (p *problem) packed(f fleet, most float64) *Fleet {
	bins, machines := slices.Clone(p.c.Bins), f.list()
	before := len(bins)
	ledger := instance.NewLedger(p.c)
	for _, k := range machines {
		x := &p.kinds.list[k]
		admits := model.NewBits(len(p.c.Classes.Groups))
		for c, class := range p.c.Planned {
			if x.admits[c] {
				admits.Set(class.Group)
			}
		}
		bins = append(bins, model.Bin{Room: x.room, Admits: admits, Soft: model.NewBits(len(p.c.Classes.Groups))})
		ledger.Spend(x.offer, 1)
	}
	out := p.packOnto(bins, p.pods, ledger)
	if slices.Max(out.Unplaced) > 0 {
		return nil
	}
	there := p.scheduler.Model.Existing()
	items := slices.Concat(out.Bins[:before], make([][]model.Item, there-before), out.Bins[before:])
	for i := range out.Nodes {
		k := p.kinds.number(p.c.Unsited().Bought[out.Nodes[i].Option])
		f = p.kinds.extended(f)
		for range out.Nodes[i].N {
			machines, items = append(machines, int32(k)), append(items, out.Nodes[i].Items)
			f[k]++
		}
	}
	for i, k := range machines { // machines without pods are not bought
		if len(items[there+i]) == 0 {
			f[k]--
		}
	}
	if !p.allows(f) || p.estimate(f, most) >= most {
		return nil
	}
	return p.answer(machines, items)
}

// bound returns the pods of each existing node and machine after binding.
func (p *problem) bound(machines int, w *course, x *bindResult) [][]model.Item {
	items := make([][]model.Item, p.scheduler.Model.Existing()+machines)
	for i, to := range x.to {
		items[to] = added(items[to], model.ClassID(w.queue[i]))
	}
	return items
}

// answer returns a fleet with the given pods on existing nodes and machines.
func (p *problem) answer(machines []int32, items [][]model.Item) *Fleet {
	bought := make([]offers.OfferRef, len(p.kinds.list))
	for k := range p.kinds.list {
		bought[k] = p.kinds.list[k].offer
	}
	c := p.c
	out := &Fleet{Packing: c.Unsited().Buying(bought)}
	before := p.scheduler.Model.Existing()
	s := &out.Solution
	s.Bins = make([][]model.Item, len(c.Nodes))
	copy(s.Bins, items[:before])
	for i, k := range machines {
		if len(items[before+i]) > 0 {
			s.Nodes = append(s.Nodes, model.Node{Option: model.OptionID(k), N: 1, Items: items[before+i]})
		}
	}
	s.Unplaced = make([]int64, len(c.Planned))
	for i, class := range c.Planned {
		s.Unplaced[i] = int64(len(class.Pods)) - p.pods[i]
	}
	return out
}

func added(items []model.Item, c model.ClassID) []model.Item {
	for i := range items {
		if items[i].Class == c {
			items[i].N++
			return items
		}
	}
	return append(items, model.Item{Class: c, N: 1})
}
