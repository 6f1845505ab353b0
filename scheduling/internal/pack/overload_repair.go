package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// repairSteps bounds the changes of one repair. weightGrowth multiplies the weight of an overload each time
	// that no change helps. leastRepairGain is the least gain of a change.
	repairSteps, weightGrowth, leastRepairGain = 1500, 1.3, 1e-9
	// mostOverload bounds the total overload at the start, in pods of average size beyond one for each machine.
	mostOverload = 4
	// ownItems bounds the pods of a machine that are considered in a step, otherItems the pods of each other
	// machine.
	ownItems, otherItems = 16, 32
	// movesPerWork is the number of changes that count as one unit of work.
	movesPerWork = 2
)

// overloadRepair moves and swaps pods between overloaded machines until none is overloaded. It is a guided
// local search: the weights of overloads that stay grow.
type overloadRepair struct {
	lns       *lns
	m         *greedy.Market
	nodes     []model.Node
	over      []float64 // by machine and resource: load minus room, in pods of average size
	weight    []float64 // by machine and resource: weight of an overload
	penalties []float64 // by machine: weighted squares of its overloads
	random    *rand.Rand
	others    []model.Item // scratch of joins
}

// noClass stands for no pod in a swap.
const noClass = model.ClassID(-1)

// insertByRepair adds the remaining pods to machines without room for them, and moves other pods until all fit.
// It returns nil and changes nothing where that fails. Machines with a minValues floor are not repaired.
func (l *lns) insertByRepair(m *greedy.Market, nodes []model.Node, classes []model.ClassID, remaining []int64, random *rand.Rand) []model.Node {
	if len(nodes) < 2 || slices.ContainsFunc(nodes, func(n model.Node) bool { return l.p.Options[n.Option].Floor >= 0 }) {
		return nil
	}
	x := &overloadRepair{lns: l, m: m, nodes: model.Unbundle(nodes), random: random}
	x.measure(classes, remaining)
	for _, c := range classes {
		for range remaining[c] {
			if !x.add(c) {
				return nil
			}
		}
	}
	if x.overload() > mostOverload+float64(len(x.nodes)) || !x.run() {
		return nil
	}
	for _, c := range classes {
		remaining[c] = 0
	}
	return x.nodes
}

// measure computes loads in pods of average size.
func (x *overloadRepair) measure(classes []model.ClassID, remaining []int64) {
	all, asked := int64(0), make([]int64, x.lns.p.Dims)
	loads := make([][]int64, len(x.nodes))
	held := slices.Clone(classes)
	for i := range x.nodes {
		loads[i] = make([]int64, x.lns.p.Dims)
		x.lns.p.Load(loads[i], x.nodes[i].Items)
		x.lns.p.Load(asked, x.nodes[i].Items)
		all += model.Pods(x.nodes[i : i+1])
		for _, it := range x.nodes[i].Items {
			held = append(held, it.Class)
		}
	}
	for _, c := range classes {
		x.lns.p.Load(asked, []model.Item{{Class: c, N: remaining[c]}})
		all += remaining[c]
	}
	usual := make([]float64, x.lns.p.Dims) // 1 / average request of a pod
	for d, n := range asked {
		usual[d] = float64(all) / float64(max(1, n))
	}
	for _, c := range held {
		for d, n := range x.lns.p.Classes[c].Request {
			x.lns.sizes[int(c)*x.lns.p.Dims+d] = float64(n) * usual[d]
		}
	}
	for i, load := range loads {
		for d, n := range load {
			x.over = append(x.over, float64(n-x.lns.p.Options[x.nodes[i].Option].Room[d])*usual[d])
		}
	}
	x.weight = slices.Repeat([]float64{1}, len(x.over))
	x.penalties = make([]float64, len(x.nodes))
	x.reweigh()
}

// reweigh computes the penalty of each machine.
func (x *overloadRepair) reweigh() {
	for i := range x.nodes {
		x.penalties[i] = x.penalty(i, nil, nil)
	}
}

// size returns the request of a pod by resource, in pods of average size.
func (x *overloadRepair) size(c model.ClassID) []float64 {
	return x.lns.sizes[int(c)*x.lns.p.Dims:][:x.lns.p.Dims]
}

// penalty returns the penalty of a machine with one pod of the size in more and one of the size out less; nil
// for none.
func (x *overloadRepair) penalty(i int, in, out []float64) (sum float64) {
	over, weight := x.over[i*x.lns.p.Dims:][:x.lns.p.Dims], x.weight[i*x.lns.p.Dims:][:x.lns.p.Dims]
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

// overload returns the total overload.
func (x *overloadRepair) overload() (sum float64) {
	for _, v := range x.over {
		sum += max(0, v)
	}
	return sum
}

// admits reports whether a machine admits a pod in place of another, and has room for it when empty.
func (x *overloadRepair) admits(i int, c, out model.ClassID) bool {
	option, class := x.nodes[i].Option, &x.lns.p.Classes[c]
	return x.m.Rows[x.m.RowOf[option]].Has(int(class.Group)) && model.Fits(x.lns.p.Options[option].Room, class.Request) &&
		(x.sharesAnywhere(class) || x.joins(i, c, out))
}

// sharesAnywhere reports whether pods of a class have no per-node limit and no conflict.
func (x *overloadRepair) sharesAnywhere(class *model.Class) bool {
	return class.PerNode == 0 && len(class.Conflicts) == 0 && len(class.PerNodeLimits) == 0
}

// joins reports whether a pod may join the pods of a machine in place of another one.
func (x *overloadRepair) joins(i int, c, out model.ClassID) bool {
	x.others = append(x.others[:0], x.nodes[i].Items...)
	if out != noClass {
		x.others = model.Add(x.others, out, -1)
		x.others = slices.DeleteFunc(x.others, func(it model.Item) bool { return it.N == 0 })
	}
	return x.lns.p.Joining(x.others, nil, c) > 0
}

// put adds n pods of a class to a machine; a negative n removes them.
func (x *overloadRepair) put(i int, c model.ClassID, n int64) {
	for d, size := range x.size(c) {
		x.over[i*x.lns.p.Dims+d] += size * float64(n)
	}
	x.penalties[i] = x.penalty(i, nil, nil)
	node := &x.nodes[i]
	node.Items = model.Add(node.Items, c, n)
	if n < 0 {
		node.Items = slices.DeleteFunc(node.Items, func(it model.Item) bool { return it.N == 0 })
	}
}

// add puts a pod onto the machine where the penalty grows least, and reports whether one admits it.
func (x *overloadRepair) add(c model.ClassID) bool {
	best, least, size := -1, 0.0, x.size(c)
	for i := range x.nodes {
		if more := x.penalty(i, size, nil) - x.penalties[i]; (best < 0 || more < least) && x.admits(i, c, noClass) {
			best, least = i, more
		}
	}
	if best >= 0 {
		x.put(best, c, 1)
	}
	return best >= 0
}

// run makes changes until no machine is overloaded, and reports whether it succeeds.
func (x *overloadRepair) run() bool {
	stuck := make([]bool, len(x.nodes))
	for range repairSteps {
		worst, most, full := -1, leastRepairGain, true
		for i, v := range x.penalties {
			full = full && v <= leastRepairGain
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
					x.weight[k] *= weightGrowth
				}
			}
			x.reweigh()
			clear(stuck)
		case x.step(worst):
			clear(stuck)
		default:
			stuck[worst] = true
		}
	}
	return false
}

// fits reports whether no machine is overloaded, in integers.
func (x *overloadRepair) fits() bool {
	return !slices.ContainsFunc(x.nodes, func(n model.Node) bool {
		load := make([]int64, x.lns.p.Dims)
		x.lns.p.Load(load, n.Items)
		return !model.Fits(x.lns.p.Options[n.Option].Room, load)
	})
}

// step makes the best change that involves machine i: a pod moves to another machine, or is swapped with a pod
// there. It reports false where no change gains.
func (x *overloadRepair) step(i int) bool {
	items, gain, to := x.nodes[i].Items, leastRepairGain, -1
	out, in := noClass, noClass
	from, stride := x.random.IntN(max(1, len(items))), max(1, len(items)/ownItems)
	looked := 0
	for k := range min(len(items), ownItems) {
		c := items[(from+k*stride)%len(items)].Class
		size := x.size(c)
		without := x.penalties[i] - x.penalty(i, nil, size)
		for j, there := range x.penalties {
			looked++
			if j == i || without+there <= gain {
				continue // no gain, even if the pod moved at no cost
			}
			if g := without + there - x.penalty(j, size, nil); g > gain && x.admits(j, c, noClass) {
				gain, to, out, in = g, j, c, noClass
			}
			others := x.nodes[j].Items
			first, hop := x.random.IntN(max(1, len(others))), max(1, len(others)/otherItems)
			for l := range min(len(others), otherItems) {
				other := others[(first+l*hop)%len(others)].Class
				looked++
				its := x.size(other)
				rest := x.penalties[i] + there - x.penalty(i, its, size)
				if rest <= gain {
					continue
				}
				if g := rest - x.penalty(j, size, its); g > gain && x.admits(i, other, c) && x.admits(j, c, other) {
					gain, to, out, in = g, j, c, other
				}
			}
		}
	}
	x.lns.fill.Work += int64(looked / movesPerWork)
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
