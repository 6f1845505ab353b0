package scheduling

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Where running machines are full, the plan of sites reckons with room that others are
// to have, who then turn out to be on other machines or to be left out. Those whom it
// has turned away for that are offered what is left in the end.

// mostToppedUp bounds at how many sites pods are offered room.
const mostToppedUp = 200

// topUp adds pods that were left out to running machines that have room for them and on
// which they bind.
func (t *ties) topUp(best trial, params pack.Params) trial {
	if best.Late || best.bind < 0 || len(best.nodes) == 0 || best.bind >= best.podCount() {
		return best
	}
	of := best.ties
	counts := best.countSites(best.placing(best.Solution))
	if !of.offer(counts, best.spare(), of.domainsOf(best.spots(best.Solution))) {
		return best
	}
	x := of.pack(&topology.Result{Counts: counts}, params)
	if x.score().better(best.score()) {
		return x
	}
	return best
}

// spare is the room that a solution leaves on running machines.
func (x *trial) spare() [][]int64 {
	out := make([][]int64, len(x.nodes))
	for i, n := range x.nodes {
		out[i] = slices.Clone(n.room)
	}
	load := make([]int64, x.model.Dims)
	for k, items := range x.Solution.Bins {
		clear(load)
		x.model.Load(load, items)
		for d, n := range load {
			out[x.nodeOf(k)][d] -= n
		}
	}
	return out
}

// offer adds to the counts of sites what has room on running machines and binds there
// beside all others, the most urgent first. It reports whether that was anything.
func (t *ties) offer(counts, spare [][]int64, extra [][]int32) bool {
	order := make([]int, 0, len(t.planner.Classes))
	for i := range t.planner.Classes {
		if sum(counts[i]) < t.planner.Classes[i].Count {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(t.planner.Classes[b].Priority, t.planner.Classes[a].Priority)
	})
	tries, found := 0, false
	for _, i := range order {
		class := &t.planner.Classes[i]
		for site := range class.Sites {
			left := class.Count - sum(counts[i])
			taken := map[int32]int64{}
			n := int64(0)
			for _, bin := range class.Sites[site].Bins {
				if k := min(left-n, fitting(spare[bin], class.Request)); k > 0 {
					taken[bin] = k
					n += k
				}
			}
			if n == 0 || tries == mostToppedUp {
				continue
			}
			tries++
			if n = t.binding(counts, i, site, n, extra); n == 0 {
				continue
			}
			found = true
			for _, bin := range class.Sites[site].Bins {
				k := min(n, taken[bin])
				n -= k
				for d, q := range class.Request {
					spare[bin][d] -= k * q
				}
			}
		}
	}
	return found
}

// binding adds up to n pods of a class to the counts of a site, as many as bind there
// without keeping others from it, and returns how many.
func (t *ties) binding(counts [][]int64, class, site int, n int64, extra [][]int32) int64 {
	for n > 0 {
		counts[class][site] += n
		bound := topology.Replay(&t.planner, counts, extra)
		if slices.EqualFunc(bound, counts, slices.Equal) {
			return n
		}
		counts[class][site] -= n
		lost := counts[class][site] + n - bound[class][site]
		if lost <= 0 {
			return 0 // others are lost for it
		}
		n -= lost
	}
	return 0
}

// fitting is how many requests a room holds.
func fitting(room, request []int64) int64 {
	if !model.Fits(room, request) {
		return 0
	}
	return max(timesIn(room, request), 1)
}
