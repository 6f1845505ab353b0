package search

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Trial is a plan of sites together with the machines that were found for it.
type Trial struct {
	Packing *instance.Packing
	Outcome pack.Outcome
	planner *SitePlanner  // as it was when the sites were planned; nil where parts have no sites
	bind    []int64       // pods that have a place and would bind there, by priority, the highest first
	counts  [][]int64     // by planner class and site, the pods that are planned there
	brief   bool          // the machines are the first that came up
	domains *domainSearch // that has found the sites; nil before searchDomains
	beside  bool          // others were planned beside it, see replanned and [Trial.improvedTwice]
	outbid  bool          // see [Trial.Outbid]
}

// NewTrial is the trial that the least work finds for a compiled problem whose pods have no topology terms. Those of other
// problems come from [SitePlanner.Solve].
func NewTrial(c *instance.Instance, params pack.Params) *Trial {
	x := &Trial{Packing: c.Unsited()}
	params.Work = 0
	if x.Outcome = pack.Search(x.Packing.Model, params); !params.Brief {
		x.Outcome = pack.PlaceWithinLimits(x.Packing.Model, x.Outcome, params)
	}
	return x
}

// misses reports whether pods are left out that might have a place.
func (x *Trial) misses() bool {
	for i := range x.Packing.Parts {
		if x.Outcome.Solution.Unplaced[i] > 0 && !x.planner.book.Unplaceable[x.Packing.Parts[i].Members[0].Class] {
			return true
		}
	}
	return false
}

// with is a trial with other machines for its sites.
func (x *Trial) with(outcome pack.Outcome) Trial {
	y := *x
	y.Outcome = outcome
	placed := placing(y.Packing, y.Outcome.Solution)
	if y.planner == nil {
		y.bind = byPriority(y.Packing, placed)
		return y
	}
	lost := surplus(y.planner, y.Packing.Parts, placed, locationsOf(y.Packing, y.Outcome.Solution))
	y.bind = byPriority(y.Packing, func(part int) int64 { return placed(part) - lost[model.ClassID(part)] })
	return y
}

// Outbid reports that more pods would be placed, were it not for launches that are left with too few options for the
// minValues of their NodePool.
func (x *Trial) Outbid() bool { return x.outbid }

// complete reports whether all pods have a place and would bind there.
func (x *Trial) complete() bool { return podspec.Sum(x.bind) == x.Packing.In.PodCount() }

// Improvable reports whether other machines may be found for the same pods, whatever else there is: all pods have a place, and
// neither limits nor reservations apply.
func (x *Trial) Improvable() bool {
	return !x.Packing.Model.Limited() && !model.AnyLeft(x.Outcome.Solution.Unplaced)
}

// searched is a trial with the machines that more work finds, if these are better.
func (x *Trial) searched(params pack.Params) Trial {
	if params.Work == 0 || x.Outcome.Late {
		return *x
	}
	if !x.Improvable() {
		return x.improvedBy(pack.PlaceWithinLimits(x.Packing.Model, pack.Search(x.Packing.Model, params), params))
	}
	return x.improvedBy(pack.Improve(x.Packing.Model, x.Outcome, params))
}

// improvedBy is a trial with other machines, if that is better.
func (x *Trial) improvedBy(outcome pack.Outcome) Trial {
	if y := x.with(outcome); slices.Compare(y.bind, x.bind) >= 0 && y.Score().Better(x.Score()) {
		return y
	}
	return *x
}

// placeWithinLimits gives the rest of limits and reservations to other pods, where a trial leaves out pods
// for lack of it and that lets more pods in.
func (x *Trial) placeWithinLimits(params pack.Params) Trial {
	found := pack.PlaceWithinLimits(x.Packing.Model, x.Outcome, params)
	if slices.Equal(x.Outcome.Solution.Unplaced, found.Solution.Unplaced) {
		return *x
	}
	if y := x.with(found); y.Score().Better(x.Score()) {
		return y
	}
	return *x
}

// price is the cost of a trial's machines, as the search sees it, in nano-USD per hour.
func (x *Trial) price() offerings.Price {
	return offerings.Price(x.Packing.Model.Cost(x.Outcome.Solution.Nodes))
}

// locationsOf are the locations of a solution's machines, in their order.
func locationsOf(p *instance.Packing, s model.Solution) []int {
	out := make([]int, len(s.Nodes))
	for i := range s.Nodes {
		b := p.Bought[s.Nodes[i].Option]
		out[i] = p.Locations.LocationOf(b.Template, b.Offer)
	}
	return out
}

// placing is how many units of each part a solution places.
func placing(p *instance.Packing, s model.Solution) func(part int) int64 {
	return func(part int) int64 { return p.Parts[part].Count - s.Unplaced[part] }
}

// byPriority counts the pods of so many units of each part by their priorities, the highest first.
func byPriority(p *instance.Packing, units func(part int) int64) (out []int64) {
	pods := map[int32]int64{}
	for _, class := range p.In.Planned {
		pods[class.Priority] = 0
	}
	for i := range p.Parts {
		n := units(i)
		for _, q := range p.Parts[i].Members {
			pods[p.In.Planned[q.Class].Priority] += n * q.N
		}
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(pods))) {
		out = append(out, pods[priority])
	}
	return out
}

// surplus counts, by part, the units that would not bind of those that have a place
// while machines stand at some locations.
func surplus(t *SitePlanner, parts []instance.Part, placed func(part int) int64, locations []int) map[model.ClassID]int64 {
	return surplusAmong(t, parts, placed, t.domainsOf(locations))
}

// countSites counts, by planner class and site, the units of parts that have a place.
func countSites(t *SitePlanner, parts []instance.Part, placed func(part int) int64) [][]int64 {
	counts := make([][]int64, len(t.problem.Classes))
	for i := range counts {
		counts[i] = make([]int64, len(t.problem.Classes[i].Sites))
	}
	for i := range parts {
		if p := &parts[i]; p.Pinned {
			counts[t.classOf[p.Unit]][p.Site] += placed(i)
		}
	}
	return counts
}

// size is the number of pods in a unit.
func size(portions []instance.Member) (n int64) {
	for _, p := range portions {
		n += p.N
	}
	return n
}

// onLaunches counts the pods on machines that a trial buys.
func (x *Trial) onLaunches() (n int64) {
	for i := range x.Outcome.Solution.Nodes {
		for _, it := range x.Outcome.Solution.Nodes[i].Items {
			n += x.Outcome.Solution.Nodes[i].N * it.N * size(x.Packing.Parts[it.Class].Members)
		}
	}
	return n
}

// effort estimates the work of a trial: the search for machines, and stating each with
// all that it could be instead.
func (x *Trial) effort() int64 {
	n := x.Outcome.Work + int64(len(x.Packing.Parts))*int64(len(x.Packing.Model.Options))
	for i := range x.Outcome.Solution.Nodes {
		n += int64(len(x.Packing.Lists[x.Packing.Bought[x.Outcome.Solution.Nodes[i].Option].Template]))
	}
	for _, list := range x.Packing.Lists {
		n += int64(len(list))
	}
	for i := range x.planner.problem.Classes {
		n += x.planner.problem.Classes[i].Count * int64(len(x.planner.problem.Classes[i].Sites))
	}
	return n
}

// refined is a trial with the machines that the least work finds, where those are the first that came up. What is left of
// limits and reservations goes to pods without a place.
func (x *Trial) refined(params pack.Params) Trial {
	if x.Outcome.Late {
		return *x
	}
	y := *x
	if params.Work = 0; x.brief {
		y = x.with(pack.Search(x.Packing.Model, params))
		y.brief = false
	}
	return y.placeWithinLimits(params)
}
