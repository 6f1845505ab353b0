package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// unit is what the engine places as one: a pod, or pods that have to share a machine
// because some of them demand to be where others are.
type unit struct {
	portions []portion
	count    int64
	kin      int
}

// portion is so many pods of a class, by place among the planned classes.
type portion struct {
	class int
	n     int64
}

// unitBook turns classes into units.
type unitBook struct {
	*kinBook
	units []unit
	// runs are the bins on which pods of a target run, and anywhere whether any runs at
	// all on a node with a host name; filled for targets of affinity per host.
	runs     map[int]model.Bits
	anywhere map[int]bool
}

// build makes one unit of every class, then joins those that have to be together.
func (b *unitBook) build() {
	for i, class := range b.land.planned {
		b.units = append(b.units, unit{portions: []portion{{i, 1}}, count: int64(len(class.pods)), kin: -1})
	}
	b.scan()
	// Whom an affinity is about has to stand before those who follow it, so classes that
	// follow others come after them; rings are broken at the first.
	done := map[int]bool{}
	for i := range b.land.planned {
		b.settle(i, done)
	}
	b.units = slices.DeleteFunc(b.units, func(u unit) bool { return u.count == 0 })
}

// hostTargets are the targets one of which has to be on the same node.
func (b *unitBook) hostTargets(class int) []int {
	var out []int
	for _, t := range b.land.bonds.list[b.land.planned[class].bonds].ties {
		if t.kind == affinityTie && t.weight == 0 && t.perHost() && !slices.Contains(out, t.target) {
			out = append(out, t.target)
		}
	}
	return out
}

// scan finds out where pods that others follow run already.
func (b *unitBook) scan() {
	b.runs, b.anywhere = map[int]model.Bits{}, map[int]bool{}
	for i := range b.land.planned {
		for _, t := range b.hostTargets(i) {
			b.runs[t] = model.NewBits(len(b.land.compiler.nodes))
		}
	}
	if len(b.runs) == 0 {
		return
	}
	b.land.runningSets(func(_ *corev1.Pod, node int, among []int32) {
		n := &b.land.nodes[node]
		if _, ok := n.labels[corev1.LabelHostname]; !ok {
			return
		}
		for _, t := range among {
			if runs, ok := b.runs[int(t)]; ok {
				b.anywhere[int(t)] = true
				if n.bin >= 0 {
					runs.Set(n.bin)
				}
			}
		}
	})
}

// settle gives a class that follows others its places: bins where such pods run, the
// units of pods that are planned, or, if it may be with its own kind, one machine.
func (b *unitBook) settle(class int, done map[int]bool) {
	if done[class] {
		return
	}
	done[class] = true
	targets := b.hostTargets(class)
	if len(targets) == 0 {
		return
	}
	// All required terms of a pod share one target.
	target := targets[0]
	c := b.land.planned[class]
	var leaders []int
	for i, other := range b.land.planned {
		if i != class && b.land.bonds.targets.has(other.among, target) && !slices.Contains(b.hostTargets(i), target) {
			b.settle(i, done)
			leaders = append(leaders, i)
		}
	}
	left := b.units[class].count
	if b.anywhere[target] {
		here := min(left, b.fits(class, b.runs[target]))
		if len(leaders) == 0 {
			here = left
		}
		b.follow(class, here, b.runs[target])
		left -= here
	}
	switch {
	case left == 0:
	case len(leaders) > 0:
		left = b.attach(class, left, leaders)
		b.follow(class, left, model.NewBits(len(b.land.compiler.nodes)))
	case b.land.bonds.targets.has(c.among, target):
		b.gather(class, target, done)
		return
	default:
		b.follow(class, left, model.NewBits(len(b.land.compiler.nodes)))
	}
	b.units[class].count = 0
}

// follow makes units of n pods that may go to some bins only.
func (b *unitBook) follow(class int, n int64, hosts model.Bits) {
	if n > 0 {
		u := unit{portions: []portion{{class, 1}}, count: n}
		u.kin = b.kin(b.members(u.portions), hosts)
		b.units = append(b.units, u)
	}
}

// fits is how many pods of a class the free room of some bins could hold.
func (b *unitBook) fits(class int, bins model.Bits) int64 {
	c := b.land.planned[class]
	sum := int64(0)
	bins.Each(func(i int) {
		bin := &b.land.model.Bins[i]
		if bin.Admits.Has(c.group) {
			sum += timesIn(bin.Room, c.requests)
		}
	})
	return sum
}

// timesIn is how often a request fits a room.
func timesIn(room, request []int64) int64 {
	n := int64(1) << 32
	for d, q := range request {
		if q > 0 {
			n = min(n, room[d]/q)
		}
	}
	return max(n, 0)
}

// attach spreads n pods of a class evenly over the units of their leaders, as far as
// some machine could hold them together, and returns how many are left.
func (b *unitBook) attach(class int, n int64, leaders []int) int64 {
	for n > 0 {
		var open []int
		total := int64(0)
		for i := range b.units {
			u := &b.units[i]
			if u.count > 0 && b.leads(u, leaders) && b.holdsMore(u, class, 1) {
				open = append(open, i)
				total += u.count
			}
		}
		if total == 0 {
			return n
		}
		each, more := n/total, n%total
		for _, i := range open {
			u := b.units[i]
			some := min(more, u.count)
			more -= some
			n -= b.join(i, class, each, u.count-some) + b.joinNew(u, class, each+1, some)
		}
	}
	return 0
}

// leads reports whether a unit holds a pod of one of the classes.
func (b *unitBook) leads(u *unit, leaders []int) bool {
	return slices.ContainsFunc(u.portions, func(s portion) bool { return slices.Contains(leaders, s.class) })
}

// join makes count units of unit i hold up to each pods of a class more, and returns
// how many pods found a place. Further units of i are left to joinNew.
func (b *unitBook) join(i, class int, each, count int64) int64 {
	u := &b.units[i]
	u.count = count
	each = b.most(u, class, each)
	if each == 0 || count == 0 {
		return 0
	}
	u.portions = added(u.portions, portion{class, each})
	return each * count
}

// joinNew is join for a unit that is split off.
func (b *unitBook) joinNew(u unit, class int, each, count int64) int64 {
	if count == 0 {
		return 0
	}
	u.count = count
	each = b.most(&u, class, each)
	if each > 0 {
		u.portions = added(u.portions, portion{class, each})
	}
	b.units = append(b.units, u)
	return each * count
}

func added(shares []portion, s portion) []portion {
	out := slices.Clone(shares)
	for i := range out {
		if out[i].class == s.class {
			out[i].n += s.n
			return out
		}
	}
	return append(out, s)
}

// most is the largest number of pods of a class, up to n, that could join a unit.
func (b *unitBook) most(u *unit, class int, n int64) int64 {
	low, high := int64(0), n
	for low < high {
		mid := (low + high + 1) / 2
		if b.holdsMore(u, class, mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// holdsMore reports whether some machine, on sale or running, could hold a unit with n
// pods of a class more.
func (b *unitBook) holdsMore(u *unit, class int, n int64) bool {
	shares := added(u.portions, portion{class, n})
	if b.clash(shares) {
		return false
	}
	request := b.request(shares)
	k := &kin{members: b.members(shares)}
	l := b.land
	for ti := range l.templates {
		for _, o := range l.offered[ti].list {
			if model.Fits(l.compiler.rooms.rooms[o.room], request) && k.admits(l.columns.rows[o.column]) {
				return true
			}
		}
	}
	for i := range l.model.Bins {
		if model.Fits(l.model.Bins[i].Room, request) && k.admits(l.model.Bins[i].Admits) {
			return true
		}
	}
	return false
}

// clash reports whether pods of a unit bind the same ports.
func (b *unitBook) clash(shares []portion) bool {
	for i, s := range shares {
		ports := b.land.classes.groups[b.land.planned[s.class].group].ports
		if len(ports) == 0 {
			continue
		}
		if s.n > 1 {
			return true
		}
		for _, o := range shares[i+1:] {
			if portsClash(ports, b.land.classes.groups[b.land.planned[o.class].group].ports) {
				return true
			}
		}
	}
	return false
}

// gather makes one unit of the pods that have to be with each other, of all classes
// that a target makes so: whatever one machine can hold, the highest priority first.
func (b *unitBook) gather(class, target int, done map[int]bool) {
	u := unit{count: 1, kin: -1}
	for i, c := range b.land.planned {
		if i != class && (done[i] || !slices.Contains(b.hostTargets(i), target)) || !b.land.bonds.targets.has(c.among, target) {
			continue
		}
		done[i] = true
		n := b.most(&u, i, b.units[i].count)
		if n > 0 {
			u.portions = added(u.portions, portion{i, n})
		}
		b.follow(i, b.units[i].count-n, model.NewBits(len(b.land.compiler.nodes)))
		b.units[i].count = 0
	}
	if len(u.portions) > 0 {
		b.units = append(b.units, u)
	}
}

// members are those of a unit's shares.
func (b *unitBook) members(shares []portion) []member {
	out := make([]member, 0, len(shares))
	for _, s := range shares {
		c := b.land.planned[s.class]
		out = append(out, member{group: c.group, bonds: c.bonds, among: c.among, n: s.n})
	}
	return out
}

// request is what a unit asks for.
func (b *unitBook) request(shares []portion) []int64 {
	sum := make([]int64, b.land.model.Dims)
	for _, s := range shares {
		for d, q := range b.land.planned[s.class].requests {
			sum[d] += q * s.n
		}
	}
	return sum
}

// priority is the highest of a unit's.
func (b *unitBook) priority(u *unit) int32 {
	top := b.land.planned[u.portions[0].class].priority
	for _, s := range u.portions {
		top = max(top, b.land.planned[s.class].priority)
	}
	return top
}
