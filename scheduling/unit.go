package scheduling

import (
	"cmp"
	"maps"
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
	// begins says that its pods follow each other, and nobody is there before them.
	begins bool
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
	states   []settling
	stranded []int64       // by class, pods that found none to be with
	hopeless []bool        // classes that have no place, whatever the others do
	gone     map[int]int64 // by class, pods that are given up from the start
	dead     []bool        // classes that nobody can follow, since they got no place
	// piled says that pods that follow others go to as few of these as can take them along,
	// and not evenly to all of them; spread that some have gone to several.
	piled, spread bool
}

// build makes one unit of every class, then joins those that have to be together.
func (b *unitBook) build() {
	ones := make([]portion, len(b.land.planned))
	b.units = slices.Grow(b.units, len(ones))
	for i := range b.land.planned {
		ones[i] = portion{i, 1}
		b.units = append(b.units, unit{portions: ones[i : i+1 : i+1], count: b.wanting(i), kin: -1})
	}
	b.scan()
	b.states, b.stranded = make([]settling, len(b.units)), make([]int64, len(b.units))
	for i := range b.land.planned {
		b.settle(i)
	}
	b.rescue()
	for _, i := range slices.Sorted(maps.Keys(b.gone)) {
		b.follow(i, b.gone[i], model.NewBits(len(b.land.nodes)))
	}
	b.units = slices.DeleteFunc(b.units, func(u unit) bool { return u.count == 0 })
}

// wanting is how many pods of a class are to have a place.
func (b *unitBook) wanting(class int) int64 {
	return int64(len(b.land.planned[class].pods)) - b.gone[class]
}

// settling is how far a class is that may have to be where others are.
type settling uint8

const (
	unsettled settling = iota
	beingSettled
	settled
)

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
			b.runs[t] = model.NewBits(len(b.land.nodes))
		}
	}
	if len(b.runs) == 0 {
		return
	}
	b.land.runningSets(func(_ *corev1.Pod, node int, among []int32) {
		if _, ok := b.land.places[node].labels[corev1.LabelHostname]; !ok {
			return
		}
		bin := int(b.land.binOf[node])
		for _, t := range among {
			if runs, ok := b.runs[int(t)]; ok {
				b.anywhere[int(t)] = true
				if bin >= 0 {
					runs.Set(bin)
				}
			}
		}
	})
}

// settle gives a class that follows others its places: bins where such pods run, the
// units of pods that are planned, or, if it may be with its own kind, one machine. Those
// that it follows are settled before.
func (b *unitBook) settle(class int) {
	if b.states[class] != unsettled {
		return
	}
	b.states[class] = beingSettled
	defer func() { b.states[class] = settled }()
	targets := b.hostTargets(class)
	if len(targets) == 0 || b.hopeless[class] {
		return
	}
	target := targets[0] // all required terms of a pod share one
	leaders := b.leaders(class, target)
	left := b.units[class].count
	b.units[class].count = 0
	for _, i := range leaders {
		b.settle(i)
	}
	if b.anywhere[target] {
		here := left
		if len(leaders) > 0 {
			here = min(left, b.fits(class, b.runs[target]))
		}
		b.follow(class, here, b.runs[target])
		left -= here
	}
	if left = b.attach(class, left, leaders); left == 0 {
		return
	}
	if !b.anywhere[target] && b.among(class, target) && !b.led(leaders) {
		b.units[class].count = left
		b.gather(class, target)
		return
	}
	b.stranded[class] = left
}

// among reports whether pods of a class are among a target.
func (b *unitBook) among(class, target int) bool {
	return b.land.bonds.targets.has(b.land.planned[class].among, target)
}

// leaders are the classes that a class with a target follows, those left out that
// follow the same.
func (b *unitBook) leaders(class, target int) []int {
	var out []int
	for i := range b.land.planned {
		if i != class && !b.dead[i] && b.among(i, target) && !slices.Contains(b.hostTargets(i), target) {
			out = append(out, i)
		}
	}
	return out
}

// led reports whether any pod of the classes could have a place.
func (b *unitBook) led(classes []int) bool {
	return slices.ContainsFunc(b.units, func(u unit) bool {
		return u.count > 0 && b.leads(&u, classes) && b.holdsMore(&u, u.portions[0].class, 0)
	})
}

// rescue lets stranded pods join units that came about after they had looked.
func (b *unitBook) rescue() {
	for again := true; again; {
		again = false
		for class, n := range b.stranded {
			if n == 0 {
				continue
			}
			target := b.hostTargets(class)[0]
			leaders := b.leaders(class, target)
			for i := range b.land.planned {
				if b.among(i, target) && !slices.Contains(leaders, i) {
					leaders = append(leaders, i)
				}
			}
			if left := b.attach(class, n, leaders); left < n {
				b.stranded[class], again = left, true
			}
		}
	}
	for class, n := range b.stranded {
		b.follow(class, n, model.NewBits(len(b.land.nodes)))
	}
}

// follow makes units of n pods that may go to some bins only.
func (b *unitBook) follow(class int, n int64, hosts model.Bits) {
	if n > 0 {
		u := unit{portions: []portion{{class, 1}}, count: n}
		u.kin = b.kin(b.members(u.portions), hosts)
		b.units = append(b.units, u)
	}
}

// gather makes one unit of the pods that have to be with each other, of all classes
// that a target makes so: whatever one machine can hold, in the order in which they
// would bind, so that nobody begins elsewhere before them.
func (b *unitBook) gather(class, target int) {
	var classes []int
	for i := range b.land.planned {
		if i == class || b.states[i] == unsettled && slices.Contains(b.hostTargets(i), target) {
			if b.among(i, target) && !b.hopeless[i] {
				classes = append(classes, i)
			}
		}
	}
	slices.SortFunc(classes, func(i, j int) int {
		x, y := b.land.planned[i], b.land.planned[j]
		return cmp.Or(cmp.Compare(y.priority, x.priority), comparePods(x.pods[0], y.pods[0]))
	})
	u := unit{count: 1, kin: -1, begins: true}
	for _, i := range classes {
		b.states[i] = settled
		n := b.most(&u, i, b.units[i].count)
		if n > 0 {
			u.portions = added(u.portions, portion{i, n})
		}
		b.stranded[i], b.units[i].count = b.units[i].count-n, 0
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

// tooMuch is more than any machine has.
const tooMuch = int64(1) << 61

// request is what a unit asks for, not to be written: for one pod it is the class's own.
func (b *unitBook) request(shares []portion) []int64 {
	if len(shares) == 1 && shares[0].n == 1 {
		return b.land.planned[shares[0].class].requests
	}
	sum := make([]int64, b.land.model.Dims)
	for _, s := range shares {
		for d, q := range b.land.planned[s.class].requests {
			if q > 0 && s.n > (tooMuch-sum[d])/q {
				sum[d] = tooMuch
			} else {
				sum[d] += q * s.n
			}
		}
	}
	return sum
}

// priority is the lowest of a unit's: no pod is bound before the one it follows.
func (b *unitBook) priority(u *unit) int32 {
	least := b.land.planned[u.portions[0].class].priority
	for _, s := range u.portions {
		least = min(least, b.land.planned[s.class].priority)
	}
	return least
}
