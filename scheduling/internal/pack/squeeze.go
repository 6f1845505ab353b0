package pack

import (
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods that are put onto the machines of a fleet one machine after the other leave some
// over where there is little room to spare: the last machines have room of one resource
// and not of another. A squeeze puts them on all the same, and exchanges pods between
// machines until none holds more than it has room for.

const (
	// squeezeItems is how many of the pods on a machine are weighed at every step, and
	// squeezeOthers how many of those on each of the others.
	squeezeItems, squeezeOthers = 16, 32
	// squeezeWork is how many exchanges are weighed with the work of weighing a class.
	squeezeWork = 2
	// squeezeCheck is after how many steps what is too much has to be less by squeezePace.
	squeezeCheck, squeezePace = 64, 0.95
	// squeezeGain is how much less bad than it was it has to be to go on.
	squeezeGain = 1e-9
	// leastMargin and mostMargin bound the margin by which a burden is weighed, and homeless is
	// how much heavier than any other is a pod that no machine can hold.
	leastMargin, mostMargin, homeless = 0.1, 10, 1e6
)

// margins are how much room, in pods of the usual size, machines strive to keep free.
func margins() []float64 { return []float64{1, 0.4, 0.1, 0} }

// squeeze is machines that may hold more than they have room for.
type squeeze struct {
	p      *model.Problem
	m      *market
	dims   int
	nodes  []model.Node
	over   []float64 // by machine and resource, what is held above the room, in usual pods
	size   []float64 // by class and resource, in usual pods
	usual  []float64 // by resource, 1 by what a pod asks for on average
	margin float64
	weight []float64       // by machine and resource, how bad it is to have too much; nil for all alike
	steady bool            // goes on while any machine is better off, however little that is
	out    []model.ClassID // pods that no machine can hold
	crowd  []int64         // by machine and crowd, how much of it is there; nil where nobody is crowded
	random *rand.Rand
	work   int64
}

// newSqueeze takes the machines of a fleet, which hold some pods. No pods of theirs may be
// in conflict with others or in crowds that do not hold all of their pods, and no more are added but of the given classes.
func (s *search) newSqueeze(m *market, nodes []model.Node, classes []model.ClassID, total []int64, random *rand.Rand) *squeeze {
	x := &squeeze{p: s.p, m: m, dims: s.p.Dims, nodes: nodes, random: random}
	load, all := make([]int64, x.dims), int64(0)
	for _, c := range classes {
		s.p.Load(load, []model.Item{{Class: c, N: total[c]}})
		all += total[c]
	}
	for _, n := range load {
		x.usual = append(x.usual, float64(all)/float64(max(1, n)))
	}
	x.size = make([]float64, len(s.p.Classes)*x.dims)
	for _, c := range classes {
		for d, q := range s.p.Classes[c].Request {
			x.size[int(c)*x.dims+d] = float64(q) * x.usual[d]
		}
	}
	for i := range nodes {
		clear(load)
		s.p.Load(load, nodes[i].Items)
		for d, n := range load {
			x.over = append(x.over, float64(n-s.p.Options[nodes[i].Option].Room[d])*x.usual[d])
		}
	}
	x.countCrowds(classes)
	return x
}

// admits reports whether pods of a class may be on a machine.
func (x *squeeze) admits(i int, c model.ClassID) bool {
	return x.m.rows[x.m.rowOf[x.nodes[i].Option]].Has(int(x.p.Classes[c].Group))
}

// holds reports whether a machine admits a pod of a class, and has room for it alone.
func (x *squeeze) holds(i int, c model.ClassID) bool {
	return x.admits(i, c) && model.Fits(x.p.Options[x.nodes[i].Option].Room, x.p.Classes[c].Request)
}

// sizeOf is the size of a pod in usual pods.
func (x *squeeze) sizeOf(c model.ClassID) []float64 { return x.size[int(c)*x.dims:][:x.dims] }

// bad is how bad it is for a machine to hold what it does.
func (x *squeeze) bad(i int) (sum float64) {
	for d, v := range x.over[i*x.dims:][:x.dims] {
		if v += x.margin; v > 0 {
			sum += v * v * x.weigh(i, d)
		}
	}
	return sum
}

// weigh is how bad it is for a machine to have too much of a resource.
func (x *squeeze) weigh(i, d int) float64 {
	if x.weight == nil {
		return 1
	}
	return x.weight[i*x.dims+d]
}

// badWith is how bad it would be with one pod more and another one less.
func (x *squeeze) badWith(i int, in, out []float64) (sum float64) {
	over := x.over[i*x.dims:][:x.dims]
	for d, v := range over {
		if v += x.margin + in[d] - out[d]; v > 0 {
			sum += v * v * x.weigh(i, d)
		}
	}
	return sum
}

// burden is how much a pod adds at least, wherever it is, to what machines hold above their
// room less a margin.
func (x *squeeze) burden(c model.ClassID, margin float64) float64 {
	least, held := 0.0, false
	for i := range x.nodes {
		if !x.holds(i, c) {
			continue
		}
		add := 0.0
		for d, v := range x.sizeOf(c) {
			add += v * max(0, x.over[i*x.dims+d]+margin)
		}
		if !held || add < least {
			least, held = add, true
		}
	}
	if !held {
		return homeless * slices.Max(x.sizeOf(c))
	}
	return least
}

// unload takes pods off machines until none holds more than it has room for, those first
// that leave the least too much. It adds them, and those that no machine can hold, to
// remaining and lists their classes.
func (x *squeeze) unload(remaining []int64) []model.ClassID {
	left := slices.Clone(x.out)
	for _, c := range left {
		remaining[c]++
	}
	none := make([]float64, x.dims)
	x.margin = 0
	for i := range x.nodes {
		for x.bad(i) > 0 {
			best, least := -1, 0.0
			for k, it := range x.nodes[i].Items {
				size := x.sizeOf(it.Class)
				if v := homeless*x.badWith(i, none, size) + slices.Max(size); best < 0 || v < least {
					best, least = k, v
				}
			}
			c := x.nodes[i].Items[best].Class
			x.put(i, c, -1)
			remaining[c]++
			left = append(left, c)
		}
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// used is the machines that hold any pods.
func (x *squeeze) used() []model.Node {
	return slices.DeleteFunc(slices.Clone(x.nodes), func(n model.Node) bool { return len(n.Items) == 0 })
}

// put adds pods of a class to a machine.
func (x *squeeze) put(i int, c model.ClassID, n int64) {
	for d, v := range x.sizeOf(c) {
		x.over[i*x.dims+d] += v * float64(n)
	}
	if x.crowd != nil {
		x.join(i, c, n)
	}
	node := &x.nodes[i]
	at := slices.IndexFunc(node.Items, func(it model.Item) bool { return it.Class == c })
	if at < 0 {
		node.Items = append(node.Items, model.Item{Class: c, N: n})
		return
	}
	if node.Items[at].N += n; node.Items[at].N == 0 {
		node.Items = slices.Delete(node.Items, at, at+1)
	}
}

// add puts a pod onto the machine where it is the least bad, and notes it where none can
// hold it.
func (x *squeeze) add(c model.ClassID) {
	best, least, none := -1, 0.0, make([]float64, x.dims)
	for i := range x.nodes {
		if !x.holds(i, c) || !x.welcome(i, c, -1) {
			continue
		}
		if more := x.badWith(i, x.sizeOf(c), none) - x.bad(i); best < 0 || more < least {
			best, least = i, more
		}
	}
	if best < 0 {
		x.out = append(x.out, c)
		return
	}
	x.put(best, c, 1)
}

// fits reports whether no machine holds more than it has room for.
func (x *squeeze) fits() bool {
	load := make([]int64, x.dims)
	for i := range x.nodes {
		clear(load)
		x.p.Load(load, x.nodes[i].Items)
		if !model.Fits(x.p.Options[x.nodes[i].Option].Room, load) {
			return false
		}
	}
	return true
}

// spread exchanges pods, in at most so many steps, until all machines keep a margin or none
// is better off.
func (x *squeeze) spread(margin float64, steps int) {
	x.margin = margin
	stuck, last := make([]bool, len(x.nodes)), 0.0
	for ; steps > 0; steps-- {
		if steps%squeezeCheck == 0 {
			now := x.excess()
			if !x.steady && last > 0 && now > squeezePace*last {
				return
			}
			last = now
		}
		worst, most := -1, squeezeGain
		for i := range x.nodes {
			if v := x.bad(i); v > most && !stuck[i] {
				worst, most = i, v
			}
		}
		switch {
		case worst < 0:
			return
		case x.step(worst, most):
			clear(stuck)
		default:
			stuck[worst] = true
		}
	}
}

// excess is how much more is held than there is room for, in usual pods.
func (x *squeeze) excess() (sum float64) {
	for _, v := range x.over {
		sum += max(0, v)
	}
	return sum
}

// step makes the best of some changes that concern a machine: a pod goes to another one, or
// changes places with a pod there.
func (x *squeeze) step(i int, now float64) bool {
	items, none := x.nodes[i].Items, make([]float64, x.dims)
	gain, to, out, in := squeezeGain, 0, model.ClassID(0), model.ClassID(-1)
	from, stride := x.random.IntN(max(1, len(items))), max(1, len(items)/squeezeItems)
	for k := range min(len(items), squeezeItems) {
		c := items[(from+k*stride)%len(items)].Class
		size := x.sizeOf(c)
		without := x.badWith(i, none, size)
		for j := range x.nodes {
			if j == i || !x.admits(j, c) {
				continue
			}
			there := x.bad(j)
			if now+there-without <= gain {
				continue // no better without anything in its place
			}
			if g := now + there - without - x.badWith(j, size, none); g > gain && x.welcome(j, c, -1) {
				gain, to, out, in = g, j, c, -1
			}
			others := x.nodes[j].Items
			first, hop := x.random.IntN(max(1, len(others))), max(1, len(others)/squeezeOthers)
			n := min(len(others), squeezeOthers)
			x.work += int64(n)
			for l := range n {
				other := others[(first+l*hop)%len(others)].Class
				back := x.sizeOf(other)
				rest := now + there - x.badWith(i, back, size)
				if rest <= gain {
					continue
				}
				if g := rest - x.badWith(j, size, back); g > gain && x.admits(i, other) && x.welcome(j, c, other) && x.welcome(i, other, c) {
					gain, to, out, in = g, j, c, other
				}
			}
		}
	}
	if gain <= squeezeGain {
		return false
	}
	x.put(i, out, -1)
	x.put(to, out, 1)
	if in >= 0 {
		x.put(to, in, -1)
		x.put(i, in, 1)
	}
	return true
}
