package search

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// A pod costs its share of a machine where many fill machines together. A pod
// that is alone at a site costs a machine of its own there, and next to nothing where
// one that others need has room to spare. Both only show in a solution.

// repriceRounds is how often a solution's own prices choose sites anew.
const repriceRounds = 4

// repriceWork bounds what repricing may look at: pods of a class times machines.
const repriceWork = 2_000_000

// reprice plans sites anew at the prices that a solution shows, as long as that makes
// it cheaper.
func reprice(t *SitePlanner, best Trial, params pack.Params) Trial {
	if len(t.problem.Classes)*len(best.Outcome.Solution.Nodes) > repriceWork || best.Outcome.Late || goodEnough(t, &best, params) {
		return best
	}
	shares := siteCosts(&t.problem)
	defer setSiteCosts(&t.problem, shares)
	for range repriceRounds {
		setSiteCosts(&t.problem, marginal(t, &best, shares))
		plan := topology.Plan(&t.problem)
		if t.stated == best.planner.stated && slices.EqualFunc(plan.Counts, best.counts, slices.Equal[[]int64]) {
			break // the same machines would come out
		}
		x := t.pack(plan, params)
		if c := slices.Compare(x.bind, best.bind); c < 0 || c == 0 && x.price() >= best.price() || !asGranted(t, &x, &best) {
			break
		}
		if best = x; best.Outcome.Late {
			break
		}
	}
	return best
}

// goodEnough reports whether a trial places all pods at a cost that will do, where to look
// for a cheaper one takes long.
func goodEnough(t *SitePlanner, x *Trial, params pack.Params) bool {
	return len(t.book.Units) >= instance.ManyClasses && x.complete() && int64(x.price()) <= params.Enough
}

// asGranted reports whether a plan of sites grants preferences no worse than another.
func asGranted(t *SitePlanner, a, b *Trial) bool {
	return t.problem.Priced || deniedAtSites(a) <= deniedAtSites(b)
}

// deniedAtSites adds up the weights of preferences that the sites of a plan do not grant.
func deniedAtSites(x *Trial) (sum int64) {
	t := x.planner
	for i := range x.Packing.Parts {
		if p := &x.Packing.Parts[i]; p.Pinned {
			sum += t.problem.Classes[t.classOf[p.Unit]].Sites[p.Site].Penalty * p.Count
		}
	}
	return sum
}

// siteCosts are the costs of all sites, by planner class.
func siteCosts(p *topology.Problem) [][]int64 {
	out := make([][]int64, len(p.Classes))
	for i := range p.Classes {
		for s := range p.Classes[i].Sites {
			out[i] = append(out[i], p.Classes[i].Sites[s].Cost)
		}
	}
	return out
}

func setSiteCosts(p *topology.Problem, costs [][]int64) {
	for i := range p.Classes[:min(len(costs), len(p.Classes))] {
		sites := p.Classes[i].Sites
		for s := range sites[:min(len(costs[i]), len(sites))] {
			sites[s].Cost = costs[i][s]
		}
	}
}

// spareRoom is a machine of a solution with the room that is left on it.
type spareRoom struct {
	location int
	column   model.Bits
	room     []int64
}

// marginal are the costs of sites once a solution's machines stand: a share of nothing
// where one has room, a whole machine elsewhere, as far as a class does not fill it.
func marginal(t *SitePlanner, x *Trial, shares [][]int64) [][]int64 {
	var spares []spareRoom
	for i, location := range locationsOf(x.Packing, x.Outcome.Solution) {
		node := &x.Outcome.Solution.Nodes[i]
		load := make([]int64, x.Packing.Model.Dims)
		x.Packing.Model.Load(load, node.Items)
		room := slices.Clone(x.Packing.Model.Options[node.Option].Room)
		for d, n := range load {
			room[d] -= n
		}
		template := x.Packing.Bought[node.Option].Template
		column := t.in.Columns.Rows[t.in.Offered[template].List[location-t.locations.First[template]].Column]
		spares = append(spares, spareRoom{location: location, column: column, room: room})
	}
	ranks := int64(instance.RankCost)
	out := make([][]int64, len(t.problem.Classes))
	for i := range t.problem.Classes {
		class := &t.problem.Classes[i]
		k := t.book.List[t.book.Units[t.units[i]].Signature]
		out[i] = slices.Clone(shares[i])
		free, shut := make([]bool, len(class.Sites)), len(class.Sites)
		for _, r := range spares {
			if site := k.Part.At[r.location]; !free[site] && model.Fits(r.room, class.Request) && k.Admits(r.column) {
				free[site] = true
				if shut--; shut == 0 {
					break
				}
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
			out[i][site] = alone(t, k, class, site, share)
		}
	}
	return out
}

// alone is the cost of a pod of a class at a site where its class has machines to itself.
// Classes of the same topology signature and size share the answers.
func alone(t *SitePlanner, k *units.TopologySignature, class *topology.Class, site int, share int64) int64 {
	if k.Market == nil {
		return share
	}
	name := binary.AppendVarint(binary.AppendVarint(t.key[:0], int64(site)), class.Count)
	for _, q := range class.Request {
		name = binary.AppendVarint(name, q)
	}
	t.key = name
	price, ok := k.Market.Alone[string(name)]
	if !ok {
		price = leastCost(t.locations, k.Market, class, site)
		k.Market.Alone[string(name)] = price
	}
	if price < 0 {
		return share
	}
	return price
}

// leastCost is the least cost of a pod of a class at a site if its class has machines to
// itself; -1 if it fits none.
func leastCost(l *instance.LocationIndex, m *instance.Market, class *topology.Class, site int) int64 {
	from, _ := slices.BinarySearchFunc(m.Rooms, site, func(r instance.SiteRoom, site int) int { return cmp.Compare(r.Site, site) })
	least := int64(-1)
	for _, r := range m.Rooms[from:] {
		if r.Site != site {
			break
		}
		room := l.In.Rooms.Rooms[r.Room]
		if !model.Fits(room, class.Request) {
			continue
		}
		n := min(max(units.TimesIn(room, class.Request), 1), class.Count)
		if cost := r.Cost/n + int64(r.Rank)*instance.RankCost; least < 0 || cost < least {
			least = cost
		}
	}
	return least
}
