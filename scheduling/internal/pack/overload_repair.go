package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// squeezeSteps bounds the exchanges of one repair, squeezeMore is how much more an overload
	// counts each time that no exchange helps, and squeezeGain how much one has to gain.
	squeezeSteps, squeezeMore, squeezeGain = 1500, 1.3, 1e-9
	// squeezeMost is how many pods too many of the usual size machines may hold at first, beside
	// one for each.
	squeezeMost = 4
	// squeezeItems is how many of the pods on a machine are weighed at every step, and
	// squeezeOthers how many of those on each of the others.
	squeezeItems, squeezeOthers = 16, 32
	// squeezeWork is how many exchanges are weighed with the work of weighing a class.
	squeezeWork = 2
)

// overloadRepair is machines that may hold more than they have room for, and pods are exchanged between
// them until none does (guided local search: overloads that stay count for more and more).
type overloadRepair struct {
	*search
	m      *greedy.Market
	nodes  []model.Node
	over   []float64 // by machine and resource, load above the room, in pods of the usual size
	weight []float64 // by machine and resource, what an overload counts for
	now    []float64 // by machine, how bad it is for it to hold what it does
	random *rand.Rand
	others []model.Item // room for those on a machine
}

// noClass stands for no pod in an exchange.
const noClass = model.ClassID(-1)

// insertByRepair puts the pods that remain onto machines that have no room for them as they stand, by
// moving others about. It returns nil and changes nothing where that fails.
func (s *search) insertByRepair(m *greedy.Market, nodes []model.Node, classes []model.ClassID, remaining []int64, random *rand.Rand) []model.Node {
	if len(nodes) < 2 || slices.ContainsFunc(nodes, func(n model.Node) bool { return s.p.Options[n.Option].Floor >= 0 }) {
		return nil
	}
	x := &overloadRepair{search: s, m: m, nodes: model.Unbundle(nodes), random: random}
	x.measure(classes, remaining)
	for _, c := range classes {
		for range remaining[c] {
			if !x.add(c) {
				return nil
			}
		}
	}
	if x.excess() > squeezeMost+float64(len(x.nodes)) || !x.run() {
		return nil
	}
	for _, c := range classes {
		remaining[c] = 0
	}
	return x.nodes
}

// measure works out loads in pods of the usual size.
func (x *overloadRepair) measure(classes []model.ClassID, remaining []int64) {
	all, asked := int64(0), make([]int64, x.p.Dims)
	loads := make([][]int64, len(x.nodes))
	held := slices.Clone(classes)
	for i := range x.nodes {
		loads[i] = make([]int64, x.p.Dims)
		x.p.Load(loads[i], x.nodes[i].Items)
		x.p.Load(asked, x.nodes[i].Items)
		all += model.Pods(x.nodes[i : i+1])
		for _, it := range x.nodes[i].Items {
			held = append(held, it.Class)
		}
	}
	for _, c := range classes {
		x.p.Load(asked, []model.Item{{Class: c, N: remaining[c]}})
		all += remaining[c]
	}
	usual := make([]float64, x.p.Dims) // 1 by what a pod asks for on average
	for d, n := range asked {
		usual[d] = float64(all) / float64(max(1, n))
	}
	for _, c := range held {
		for d, n := range x.p.Classes[c].Request {
			x.sizes[int(c)*x.p.Dims+d] = float64(n) * usual[d]
		}
	}
	for i, load := range loads {
		for d, n := range load {
			x.over = append(x.over, float64(n-x.p.Options[x.nodes[i].Option].Room[d])*usual[d])
		}
	}
	x.weight = slices.Repeat([]float64{1}, len(x.over))
	x.now = make([]float64, len(x.nodes))
	x.weigh()
}

// weigh works out how bad it is for each machine to hold what it does.
func (x *overloadRepair) weigh() {
	for i := range x.nodes {
		x.now[i] = x.bad(i, nil, nil)
	}
}

// size is what a pod asks for, by resource, in pods of the usual size.
func (x *overloadRepair) size(c model.ClassID) []float64 {
	return x.sizes[int(c)*x.p.Dims:][:x.p.Dims]
}

// bad is how bad it is for a machine to hold what it does, with a pod of one size more and one of
// another less; nil is none.
func (x *overloadRepair) bad(i int, in, out []float64) (sum float64) {
	over, weight := x.over[i*x.p.Dims:][:x.p.Dims], x.weight[i*x.p.Dims:][:x.p.Dims]
	for d, v := range over {
		if in != nil {
			v += in[d]
		}
		if out != nil {
			v -= out[d]
		}
		if v > 0 {
			sum += v * v * weight[d]
		}
	}
	return sum
}

// excess is how much more machines hold than they have room for.
func (x *overloadRepair) excess() (sum float64) {
	for _, v := range x.over {
		sum += max(0, v)
	}
	return sum
}

// holds reports whether a machine admits a pod in place of another, and has room for it alone.
func (x *overloadRepair) holds(i int, c, out model.ClassID) bool {
	option, class := x.nodes[i].Option, &x.p.Classes[c]
	return x.m.Rows[x.m.RowOf[option]].Has(int(class.Group)) && model.Fits(x.p.Options[option].Room, class.Request) &&
		(x.sharesAnywhere(class) || x.joins(i, c, out))
}

// sharesAnywhere reports whether pods of a class may share a machine with any that are not particular.
func (x *overloadRepair) sharesAnywhere(class *model.Class) bool {
	return class.PerNode == 0 && len(class.Conflicts) == 0 && len(class.PerNodeLimits) == 0
}

// joins reports whether a pod may join those of a machine in place of another.
func (x *overloadRepair) joins(i int, c, out model.ClassID) bool {
	x.others = append(x.others[:0], x.nodes[i].Items...)
	if out != noClass {
		x.others = model.Add(x.others, out, -1)
		x.others = slices.DeleteFunc(x.others, func(it model.Item) bool { return it.N == 0 })
	}
	return x.p.Joining(x.others, nil, c) > 0
}

// put adds pods of a class to a machine, or takes them away.
func (x *overloadRepair) put(i int, c model.ClassID, n int64) {
	for d, size := range x.size(c) {
		x.over[i*x.p.Dims+d] += size * float64(n)
	}
	x.now[i] = x.bad(i, nil, nil)
	node := &x.nodes[i]
	node.Items = model.Add(node.Items, c, n)
	if n < 0 {
		node.Items = slices.DeleteFunc(node.Items, func(it model.Item) bool { return it.N == 0 })
	}
}

// add puts a pod onto the machine where it is the least bad, if one can hold it.
func (x *overloadRepair) add(c model.ClassID) bool {
	best, least, size := -1, 0.0, x.size(c)
	for i := range x.nodes {
		if more := x.bad(i, size, nil) - x.now[i]; (best < 0 || more < least) && x.holds(i, c, noClass) {
			best, least = i, more
		}
	}
	if best >= 0 {
		x.put(best, c, 1)
	}
	return best >= 0
}

// run exchanges pods until no machine holds more than it has room for, and reports whether it
// comes to that.
func (x *overloadRepair) run() bool {
	stuck := make([]bool, len(x.nodes))
	for range squeezeSteps {
		worst, most, full := -1, squeezeGain, true
		for i, v := range x.now {
			full = full && v <= squeezeGain
			if v > most && !stuck[i] {
				worst, most = i, v
			}
		}
		switch {
		case full:
			return x.fits()
		case worst < 0:
			for k, v := range x.over {
				if v > 0 {
					x.weight[k] *= squeezeMore
				}
			}
			x.weigh()
			clear(stuck)
		case x.step(worst):
			clear(stuck)
		default:
			stuck[worst] = true
		}
	}
	return false
}

// fits reports whether no machine holds more than it has room for, in whole numbers.
func (x *overloadRepair) fits() bool {
	return !slices.ContainsFunc(x.nodes, func(n model.Node) bool {
		load := make([]int64, x.p.Dims)
		x.p.Load(load, n.Items)
		return !model.Fits(x.p.Options[n.Option].Room, load)
	})
}

// step makes the best of some changes that concern a machine: a pod goes to another one, or
// changes places with a pod there. It reports false where none is for the better.
func (x *overloadRepair) step(i int) bool {
	items, gain, to := x.nodes[i].Items, squeezeGain, -1
	out, in := noClass, noClass
	from, stride := x.random.IntN(max(1, len(items))), max(1, len(items)/squeezeItems)
	looked := 0
	for k := range min(len(items), squeezeItems) {
		c := items[(from+k*stride)%len(items)].Class
		size := x.size(c)
		without := x.now[i] - x.bad(i, nil, size)
		for j, there := range x.now {
			looked++
			if j == i || without+there <= gain {
				continue // no better, even with nothing in its place
			}
			if g := without + there - x.bad(j, size, nil); g > gain && x.holds(j, c, noClass) {
				gain, to, out, in = g, j, c, noClass
			}
			others := x.nodes[j].Items
			first, hop := x.random.IntN(max(1, len(others))), max(1, len(others)/squeezeOthers)
			for l := range min(len(others), squeezeOthers) {
				other := others[(first+l*hop)%len(others)].Class
				looked++
				its := x.size(other)
				rest := x.now[i] + there - x.bad(i, its, size)
				if rest <= gain {
					continue
				}
				if g := rest - x.bad(j, size, its); g > gain && x.holds(i, other, c) && x.holds(j, c, other) {
					gain, to, out, in = g, j, c, other
				}
			}
		}
	}
	x.fill.Work += int64(looked / squeezeWork)
	if to < 0 {
		return false
	}
	x.put(i, out, -1)
	x.put(to, out, 1)
	if in != noClass {
		x.put(to, in, -1)
		x.put(i, in, 1)
	}
	return true
}
