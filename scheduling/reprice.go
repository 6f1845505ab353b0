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
func (t *ties) reprice(best trial, params pack.Params) trial {
	if len(t.planner.Classes)*len(best.Solution.Nodes) > repriceWork || best.Late {
		return best
	}
	shares := t.siteCosts()
	defer t.setSiteCosts(shares)
	for range repriceRounds {
		t.setSiteCosts(t.marginal(&best, shares))
		x := t.try(params)
		if x.bind < best.bind || x.bind == best.bind && x.price() >= best.price() || !t.asGranted(x.compiler, best.compiler) {
			break
		}
		if best = x; best.Late {
			break
		}
	}
	return best
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
func (t *ties) marginal(x *trial, shares [][]int64) [][]int64 {
	var spares []spareRoom
	for i, spot := range x.spots(x.Solution) {
		node := &x.Solution.Nodes[i]
		load := make([]int64, x.model.Dims)
		x.model.Load(load, node.Items)
		room := slices.Clone(x.model.Options[node.Option].Room)
		for d, n := range load {
			room[d] -= n
		}
		template := x.bought[node.Option].template
		column := t.land.columns.rows[t.land.offered[template].list[spot-t.land.first[template]].column]
		spares = append(spares, spareRoom{spot: spot, column: column, room: room})
	}
	ranks := int64(rankCost)
	out := make([][]int64, len(t.planner.Classes))
	for i := range t.planner.Classes {
		class := &t.planner.Classes[i]
		k := t.list[t.unitBook.units[t.units[i]].kin]
		out[i] = slices.Clone(shares[i])
		free := make([]bool, len(class.Sites))
		for _, r := range spares {
			if site := k.part.at[r.spot]; !free[site] && model.Fits(r.room, class.Request) && k.admits(r.column) {
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
