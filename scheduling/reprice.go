package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// A pod's share of a machine is what it costs where many fill machines together. A pod
// that is alone at a site costs a machine of its own there, and next to nothing where
// one that others need has room to spare. Both only show in a solution.

// repriceRounds is how often a solution's own prices choose sites anew.
const repriceRounds = 4

// repriceWork bounds what repricing may look at: pods of a class times machines.
const repriceWork = 2_000_000

// reprice plans sites anew at the prices that a solution shows, as long as that makes
// it cheaper.
func (t *ties) reprice(best *compiler, result pack.Outcome, params pack.Params) (*compiler, pack.Outcome) {
	if len(t.planner.Classes)*len(result.Solution.Nodes) > repriceWork || result.Late {
		return best, result
	}
	placed := sum(best.placed(result.Solution)) - best.unbound(result.Solution)
	cost := price(best, result.Solution)
	shares := t.siteCosts()
	defer t.setSiteCosts(shares)
	for range repriceRounds {
		t.setSiteCosts(t.marginal(best, result.Solution, shares))
		e := t.split(topology.Plan(&t.planner))
		outcome := pack.Search(e.model, params)
		n := sum(e.placed(outcome.Solution)) - e.unbound(outcome.Solution)
		if n < placed || n == placed && price(e, outcome.Solution) >= cost || !t.asGranted(e, best) {
			break
		}
		best, result, placed, cost = e, outcome, n, price(e, outcome.Solution)
		if outcome.Late {
			break
		}
	}
	return best, result
}

// asGranted reports whether a plan of sites grants wishes no worse than another.
func (t *ties) asGranted(a, b *compiler) bool {
	return t.planner.Priced || a.denied() <= b.denied()
}

// denied adds up what the sites of a plan do not grant.
func (c *compiler) denied() (sum int64) {
	for i := range c.parts {
		if p := &c.parts[i]; p.pinned {
			sum += c.ties.planner.Classes[c.ties.classOf[p.unit]].Sites[p.site].Penalty * p.count
		}
	}
	return sum
}

// siteCosts are the costs of all sites, by planner class.
func (t *ties) siteCosts() [][]int64 {
	out := make([][]int64, len(t.planner.Classes))
	for i := range t.planner.Classes {
		for s := range t.planner.Classes[i].Sites {
			out[i] = append(out[i], t.planner.Classes[i].Sites[s].Cost)
		}
	}
	return out
}

func (t *ties) setSiteCosts(costs [][]int64) {
	for i := range t.planner.Classes[:min(len(costs), len(t.planner.Classes))] {
		sites := t.planner.Classes[i].Sites
		for s := range sites[:min(len(costs[i]), len(sites))] {
			sites[s].Cost = costs[i][s]
		}
	}
}

// spareRoom is a machine of a solution with the room that is left on it.
type spareRoom struct {
	spot   int
	column model.Bits
	room   []int64
}

// marginal are the costs of sites once a solution's machines stand: a share of nothing
// where one has room, a whole machine elsewhere, as far as a class does not fill it.
func (t *ties) marginal(e *compiler, s model.Solution, shares [][]int64) [][]int64 {
	var spares []spareRoom
	for i := range s.Nodes {
		node := &s.Nodes[i]
		b := e.bought[node.Option]
		spot := t.land.spot(b.template, b.offer)
		load := make([]int64, e.model.Dims)
		e.model.Load(load, node.Items)
		room := slices.Clone(e.model.Options[node.Option].Room)
		for d, n := range load {
			room[d] -= n
		}
		column := t.land.columns.rows[t.land.offered[b.template].list[spot-t.land.first[b.template]].column]
		spares = append(spares, spareRoom{spot: spot, column: column, room: room})
	}
	ranks := int64(rankCost)
	out := make([][]int64, len(t.planner.Classes))
	for i := range t.planner.Classes {
		class := &t.planner.Classes[i]
		k := t.list[t.unitBook.units[t.units[i]].kin]
		out[i] = slices.Clone(shares[i])
		free := make([]bool, len(class.Sites))
		for _, x := range spares {
			if site := k.part.at[x.spot]; !free[site] && model.Fits(x.room, class.Request) && k.admits(x.column) {
				free[site] = true
			}
		}
		for site, share := range shares[i] {
			if share == topology.Nowhere {
				continue
			}
			if free[site] {
				out[i][site] = share/ranks*ranks + share%ranks/16
				continue
			}
			out[i][site] = t.alone(k, class, site, share)
		}
	}
	return out
}

// alone is what a pod of a class costs at a site where its class has machines to itself.
func (t *ties) alone(k *kin, class *topology.Class, site int, share int64) int64 {
	if k.market == nil {
		return share
	}
	least := int64(-1)
	for _, r := range k.market.rooms {
		room := t.land.compiler.rooms.rooms[r.room]
		if r.site != site || !model.Fits(room, class.Request) {
			continue
		}
		n := min(max(timesIn(room, class.Request), 1), class.Count)
		if cost := r.cost/n + int64(r.rank)*rankCost; least < 0 || cost < least {
			least = cost
		}
	}
	if least < 0 {
		return share
	}
	return least
}
