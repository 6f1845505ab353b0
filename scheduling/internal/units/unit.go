package units

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Unit is what the engine places as one: a pod, or pods that have to share a machine
// because some of them demand to be where others are.
type Unit struct {
	Portions  []instance.Portion
	Count     int64
	Signature int
	// begins says that its pods follow each other, and nobody is there before them.
	Begins bool
}

// UnitBook turns classes into units.
type UnitBook struct {
	*SignatureBook
	Units []Unit
	// runs are the bins on which pods of a target run, and anywhere whether any runs at
	// all on a node with a host name; filled for targets of affinity per host.
	runs     map[int]model.Bits
	anywhere map[int]bool
	states   []settling
	stranded []int64       // by class, pods that found none to be with
	Hopeless []bool        // classes that have no place, whatever the others do
	Gone     map[int]int64 // by class, pods that are given up from the start
	Dead     []bool        // classes that nobody can follow, since they got no place
	// piled says that pods that follow others go to as few of these as can take them along,
	// and not evenly to all of them; spread that some have gone to several.
	Piled, Spread bool
	// Present are the running pods that count for per-node limits, by node.
	Present [][]model.Presence
}

// NewUnitBook reads the topology terms of a compiled problem's pods: its rules and per-node limits, with the running pods
// that they count, and the classes that have no place whatever the others do. gone are pods that are given up from the
// start, by class. piled says that pods that follow others go to as few of these as can take them along.
func NewUnitBook(l *instance.LocationIndex, gone map[int]int64, piled bool) *UnitBook {
	b := &UnitBook{SignatureBook: &SignatureBook{RuleBook: NewRuleBook(l), Index: map[string]int{}}, Gone: gone, Piled: piled}
	for _, class := range l.In.Planned {
		b.Enter(Member{Group: class.Group, TopologyTerms: class.TopologyTerms, Among: class.Among, N: 1})
	}
	b.Keep()
	b.Present = b.Count()
	presolve(b)
	return b
}

// Snapshot is a book whose units stay as they are when those of b change.
func (b *UnitBook) Snapshot() *UnitBook {
	out := *b
	out.Units = slices.Clone(b.Units)
	return &out
}

// Build makes one unit of every class, then joins those that have to be together, and numbers their topology signatures.
func (b *UnitBook) Build() {
	b.Units = nil
	ones := make([]instance.Portion, len(b.Locations.In.Planned))
	b.Units = slices.Grow(b.Units, len(ones))
	for i := range b.Locations.In.Planned {
		ones[i] = instance.Portion{Class: i, N: 1}
		b.Units = append(b.Units, Unit{Portions: ones[i : i+1 : i+1], Count: b.Wanting(i), Signature: -1})
	}
	b.scan()
	b.states, b.stranded = make([]settling, len(b.Units)), make([]int64, len(b.Units))
	for i := range b.Locations.In.Planned {
		b.placeFollower(i)
	}
	b.rescue()
	for _, i := range slices.Sorted(maps.Keys(b.Gone)) {
		b.Follow(i, b.Gone[i], model.NewBits(len(b.Locations.In.Nodes)))
	}
	b.Units = slices.DeleteFunc(b.Units, func(u Unit) bool { return u.Count == 0 })
	for i := range b.Units {
		if u := &b.Units[i]; u.Signature < 0 {
			u.Signature = b.Number(b.Members(u.Portions), nil)
		}
	}
}

// Shrink takes a quarter of the pods of the last class out of units that found no place, so that the pods that others follow
// may find one without them. placed says how many of each unit have a place. It reports whether there were any such units.
func (b *UnitBook) Shrink(placed []int64) bool {
	before := len(b.Units)
	shrunk := false
	for i := range before {
		u := &b.Units[i]
		left := u.Count - placed[i]
		last := len(u.Portions) - 1
		if left == 0 || last == 0 && u.Portions[0].N == 1 {
			continue
		}
		shrunk = true
		u.Count -= left
		less := Unit{Portions: slices.Clone(u.Portions), Count: left, Begins: u.Begins}
		p := &less.Portions[last]
		gone := (p.N + 3) / 4
		class := p.Class
		if p.N -= gone; p.N == 0 {
			less.Portions = less.Portions[:last]
		}
		less.Signature = b.Number(b.Members(less.Portions), b.List[u.Signature].Hosts)
		b.Units = append(b.Units, less)
		b.Follow(class, gone*left, model.NewBits(len(b.Locations.In.Nodes)))
	}
	if shrunk {
		b.Units = slices.DeleteFunc(b.Units, func(u Unit) bool { return u.Count == 0 })
	}
	return shrunk
}

// Unfollow makes units anew in which no pod follows a class of which no pod has a place. placed says how many pods of each
// class have one. It reports whether any pod without a place followed such a class.
func (b *UnitBook) Unfollow(placed []int64) bool {
	dead, followed := make([]bool, len(placed)), false
	for i, n := range placed {
		dead[i] = n == 0
	}
	for i := range placed {
		if placed[i] == int64(len(b.Locations.In.Planned[i].Pods)) {
			continue
		}
		for _, target := range b.HostTargets(i) {
			for j := range placed {
				followed = followed || i != j && dead[j] && !b.Dead[j] && b.Among(j, target)
			}
		}
	}
	if followed {
		b.Dead = dead
		b.Build()
	}
	return followed
}

// Wanting is how many pods of a class are to have a place.
func (b *UnitBook) Wanting(class int) int64 {
	return int64(len(b.Locations.In.Planned[class].Pods)) - b.Gone[class]
}

// settling is how far a class is that may have to be where others are.
type settling uint8

const (
	unsettled settling = iota
	beingSettled
	settled
)

// HostTargets are the targets one of which has to be on the same node.
func (b *UnitBook) HostTargets(class int) []int {
	var out []int
	for _, t := range b.Locations.In.TopologyTerms.List[b.Locations.In.Planned[class].TopologyTerms].Ties {
		if t.Kind == podspec.AffinityTie && t.Weight == 0 && t.PerHost() && !slices.Contains(out, t.Target) {
			out = append(out, t.Target)
		}
	}
	return out
}

// scan finds out where pods that others follow run already.
func (b *UnitBook) scan() {
	b.runs, b.anywhere = map[int]model.Bits{}, map[int]bool{}
	for i := range b.Locations.In.Planned {
		for _, t := range b.HostTargets(i) {
			b.runs[t] = model.NewBits(len(b.Locations.In.Nodes))
		}
	}
	if len(b.runs) == 0 {
		return
	}
	b.Locations.RunningSets(func(_ *corev1.Pod, node int, among []int32) {
		if _, ok := b.Locations.Places[node].Labels[corev1.LabelHostname]; !ok {
			return
		}
		bin := int(b.Locations.BinOf[node])
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

// placeFollower gives a class that follows others its places: bins where such pods run, the
// units of pods that are planned, or, if it may be with its own kind, one machine. Those
// that it follows are settled before.
func (b *UnitBook) placeFollower(class int) {
	if b.states[class] != unsettled {
		return
	}
	b.states[class] = beingSettled
	defer func() { b.states[class] = settled }()
	targets := b.HostTargets(class)
	if len(targets) == 0 || b.Hopeless[class] {
		return
	}
	target := targets[0] // all required terms of a pod share one
	leaders := b.leaders(class, target)
	left := b.Units[class].Count
	b.Units[class].Count = 0
	if b.anywhere[target] {
		here := left
		if len(leaders) > 0 {
			here = min(left, b.fits(class, b.runs[target]))
		}
		b.Follow(class, here, b.runs[target])
		left -= here
	}
	for _, i := range leaders { // some of which may follow these
		b.placeFollower(i)
	}
	if left = b.attach(class, left, leaders); left == 0 {
		return
	}
	if !b.anywhere[target] && b.Among(class, target) && !b.led(leaders) {
		b.Units[class].Count = left
		b.gather(class, target)
		return
	}
	b.stranded[class] = left
}

// Among reports whether pods of a class are among a target.
func (b *UnitBook) Among(class, target int) bool {
	return b.Locations.In.TopologyTerms.Targets.Has(b.Locations.In.Planned[class].Among, target)
}

// leaders are the classes that a class with a target follows, those left out that
// follow the same.
func (b *UnitBook) leaders(class, target int) []int {
	var out []int
	for i := range b.Locations.In.Planned {
		if i != class && !b.Dead[i] && b.Among(i, target) && !slices.Contains(b.HostTargets(i), target) {
			out = append(out, i)
		}
	}
	return out
}

// led reports whether any pod of the classes could have a place.
func (b *UnitBook) led(classes []int) bool {
	return slices.ContainsFunc(b.Units, func(u Unit) bool {
		return u.Count > 0 && b.leads(&u, classes) && b.holdsMore(&u, u.Portions[0].Class, 0)
	})
}

// rescue lets stranded pods join units that came about after they had looked.
func (b *UnitBook) rescue() {
	for again := true; again; {
		again = false
		for class, n := range b.stranded {
			if n == 0 {
				continue
			}
			target := b.HostTargets(class)[0]
			leaders := b.leaders(class, target)
			for i := range b.Locations.In.Planned {
				if b.Among(i, target) && !slices.Contains(leaders, i) {
					leaders = append(leaders, i)
				}
			}
			if left := b.attach(class, n, leaders); left < n {
				b.stranded[class], again = left, true
			}
		}
	}
	for class, n := range b.stranded {
		b.Follow(class, n, model.NewBits(len(b.Locations.In.Nodes)))
	}
}

// Follow makes units of n pods that may go to some bins only.
func (b *UnitBook) Follow(class int, n int64, hosts model.Bits) {
	if n > 0 {
		u := Unit{Portions: []instance.Portion{{Class: class, N: 1}}, Count: n}
		u.Signature = b.Number(b.Members(u.Portions), hosts)
		b.Units = append(b.Units, u)
	}
}

// gather makes one unit of the pods that have to be with each other, of all classes
// that a target makes so: whatever one machine can hold, in the order in which they
// would bind, so that nobody begins elsewhere before them.
func (b *UnitBook) gather(class, target int) {
	var classes []int
	for i := range b.Locations.In.Planned {
		if i == class || b.states[i] == unsettled && slices.Contains(b.HostTargets(i), target) {
			if b.Among(i, target) && !b.Hopeless[i] {
				classes = append(classes, i)
			}
		}
	}
	slices.SortFunc(classes, func(i, j int) int {
		x, y := b.Locations.In.Planned[i], b.Locations.In.Planned[j]
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), podspec.ComparePods(x.Pods[0], y.Pods[0]))
	})
	u := Unit{Count: 1, Signature: -1, Begins: true}
	for _, i := range classes {
		b.states[i] = settled
		n := b.most(&u, i, b.Units[i].Count)
		if n > 0 {
			u.Portions = added(u.Portions, instance.Portion{Class: i, N: n})
		}
		b.stranded[i], b.Units[i].Count = b.Units[i].Count-n, 0
	}
	if len(u.Portions) > 0 {
		b.Units = append(b.Units, u)
	}
}

// Members are those of a unit's shares.
func (b *UnitBook) Members(shares []instance.Portion) []Member {
	out := make([]Member, 0, len(shares))
	for _, s := range shares {
		c := b.Locations.In.Planned[s.Class]
		out = append(out, Member{Group: c.Group, TopologyTerms: c.TopologyTerms, Among: c.Among, N: s.N})
	}
	return out
}

// tooMuch is more than any machine has.
const tooMuch = int64(1) << 61

// Request is what a unit asks for, not to be written: for one pod it is the class's own.
func (b *UnitBook) Request(shares []instance.Portion) []int64 {
	if len(shares) == 1 && shares[0].N == 1 {
		return b.Locations.In.Planned[shares[0].Class].Requests
	}
	sum := make([]int64, b.Locations.In.Dims())
	for _, s := range shares {
		for d, q := range b.Locations.In.Planned[s.Class].Requests {
			if q > 0 && s.N > (tooMuch-sum[d])/q {
				sum[d] = tooMuch
			} else {
				sum[d] += q * s.N
			}
		}
	}
	return sum
}

// Priority is the lowest of a unit's: no pod is bound before the one it follows.
func (b *UnitBook) Priority(u *Unit) int32 {
	least := b.Locations.In.Planned[u.Portions[0].Class].Priority
	for _, s := range u.Portions {
		least = min(least, b.Locations.In.Planned[s.Class].Priority)
	}
	return least
}
