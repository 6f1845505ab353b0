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

// Unit is pods that are placed together: one pod, or pods that must share a node because of required affinity per host,
// e.g. a web server and the cache that it must be with. Count is the number of equal units, Signature its number or -1.
type Unit struct {
	Members   []instance.Member
	Count     int64
	Signature int
	// Begins says that its pods select each other and no such pod runs or is planned elsewhere, so the first may bind
	// anywhere.
	Begins bool
}

// UnitBook groups classes into units.
type UnitBook struct {
	*SignatureBook
	Units []Unit
	// runs are, by target of affinity per host, the bins with a running pod of it. anywhere says whether one runs on
	// any node with a host name.
	runs        map[int]model.Bits
	anywhere    map[int]bool
	states      []settling
	stranded    []int64       // by class, pods for which no unit had room
	Unplaceable []bool        // by class, whether it has no place in any plan
	LeftOut     map[int]int64 // by class, pods that the caller leaves unplaced
	Dead        []bool        // by class, whether no pod may follow it, because it has no place
	// FewUnits says that pods with affinity join as few units as can hold them, not all evenly. Spread says that pods
	// have joined several.
	FewUnits, Spread bool
	// Present are the running pods that count for per-node limits, by node.
	Present [][]model.Presence
}

// NewUnitBook reads the topology terms of an instance: rules and limits with their running pods, and unplaceable classes.
// leftOut are, by class, the pods to leave unplaced; fewUnits is [UnitBook.FewUnits]. Units are made by [UnitBook.Build].
func NewUnitBook(l *instance.LocationIndex, leftOut map[int]int64, fewUnits bool) *UnitBook {
	b := &UnitBook{SignatureBook: &SignatureBook{RuleBook: NewRuleBook(l), Index: map[string]int{}}, LeftOut: leftOut, FewUnits: fewUnits}
	for _, class := range l.In.Planned {
		b.Enter(Member{Group: class.Group, TopologyTerms: class.TopologyTerms, Among: class.Among, N: 1})
	}
	b.Keep()
	b.Present = b.Count()
	presolve(b)
	return b
}

// Snapshot is a copy whose units do not change with those of b.
func (b *UnitBook) Snapshot() *UnitBook {
	out := *b
	out.Units = slices.Clone(b.Units)
	return &out
}

// Build makes a unit of every class, joins the pods that must share a node, and numbers the signatures.
func (b *UnitBook) Build() {
	b.Units = nil
	ones := make([]instance.Member, len(b.Locations.In.Planned))
	b.Units = slices.Grow(b.Units, len(ones))
	for i := range b.Locations.In.Planned {
		ones[i] = instance.Member{Class: i, N: 1}
		b.Units = append(b.Units, Unit{Members: ones[i : i+1 : i+1], Count: b.Wanting(i), Signature: -1})
	}
	b.scan()
	b.states, b.stranded = make([]settling, len(b.Units)), make([]int64, len(b.Units))
	for i := range b.Locations.In.Planned {
		b.placeFollower(i)
	}
	b.joinStranded()
	for _, i := range slices.Sorted(maps.Keys(b.LeftOut)) {
		b.Follow(i, b.LeftOut[i], model.NewBits(len(b.Locations.In.Nodes)))
	}
	b.Units = slices.DeleteFunc(b.Units, func(u Unit) bool { return u.Count == 0 })
	for i := range b.Units {
		if u := &b.Units[i]; u.Signature < 0 {
			u.Signature = b.Number(b.Members(u.Members), nil)
		}
	}
}

// Shrink takes a quarter of the pods of the last class out of each unit without a place, because the remaining pods may
// then have one. placed is, by unit, the number with a place. It reports whether there was such a unit.
func (b *UnitBook) Shrink(placed []int64) bool {
	before := len(b.Units)
	shrunk := false
	for i := range before {
		u := &b.Units[i]
		left := u.Count - placed[i]
		last := len(u.Members) - 1
		if left == 0 || last == 0 && u.Members[0].N == 1 {
			continue
		}
		shrunk = true
		u.Count -= left
		less := Unit{Members: slices.Clone(u.Members), Count: left, Begins: u.Begins}
		p := &less.Members[last]
		gone := (p.N + 3) / 4
		class := p.Class
		if p.N -= gone; p.N == 0 {
			less.Members = less.Members[:last]
		}
		less.Signature = b.Number(b.Members(less.Members), b.List[u.Signature].Hosts)
		b.Units = append(b.Units, less)
		b.Follow(class, gone*left, model.NewBits(len(b.Locations.In.Nodes)))
	}
	if shrunk {
		b.Units = slices.DeleteFunc(b.Units, func(u Unit) bool { return u.Count == 0 })
	}
	return shrunk
}

// Unfollow rebuilds the units so that no pod follows a class without a placed pod. placed is the number of placed pods
// by class. It reports whether an unplaced pod followed such a class; else no unit is changed.
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

// Wanting is the number of pods of a class to place.
func (b *UnitBook) Wanting(class int) int64 {
	return int64(len(b.Locations.In.Planned[class].Pods)) - b.LeftOut[class]
}

// settling is the progress of a class in [UnitBook.placeFollower].
type settling uint8

const (
	unsettled settling = iota
	beingSettled
	settled
)

// HostTargets are the targets of a class's required affinity per host.
func (b *UnitBook) HostTargets(class int) []int {
	var out []int
	for _, t := range b.Locations.In.TopologyTerms.List[b.Locations.In.Planned[class].TopologyTerms].Terms {
		if t.Kind == podspec.AffinityTerm && t.Weight == 0 && t.PerHost() && !slices.Contains(out, t.Target) {
			out = append(out, t.Target)
		}
	}
	return out
}

// scan fills runs and anywhere.
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

// placeFollower places the pods of a class with affinity per host, after the classes that it follows: on bins with such
// a running pod, in units with such a planned pod, or, if the pods select themselves, in a unit of their own. Other pods
// are stranded.
func (b *UnitBook) placeFollower(class int) {
	if b.states[class] != unsettled {
		return
	}
	b.states[class] = beingSettled
	defer func() { b.states[class] = settled }()
	targets := b.HostTargets(class)
	if len(targets) == 0 || b.Unplaceable[class] {
		return
	}
	target := targets[0] // because all required terms of a pod have one common target
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
	for _, i := range leaders { // because a leader may itself follow other classes
		b.placeFollower(i)
	}
	if left = b.attach(class, left, leaders); left == 0 {
		return
	}
	if !b.anywhere[target] && b.Among(class, target) && !b.led(leaders) {
		b.Units[class].Count = left
		b.joinColocated(class, target)
		return
	}
	b.stranded[class] = left
}

// Among reports whether a target selects the pods of a class.
func (b *UnitBook) Among(class, target int) bool {
	return b.Locations.In.TopologyTerms.Targets.Has(b.Locations.In.Planned[class].Among, target)
}

// leaders are the classes that a target selects and that have no affinity per host to it themselves.
func (b *UnitBook) leaders(class, target int) []int {
	var out []int
	for i := range b.Locations.In.Planned {
		if i != class && !b.Dead[i] && b.Among(i, target) && !slices.Contains(b.HostTargets(i), target) {
			out = append(out, i)
		}
	}
	return out
}

// led reports whether a unit with pods of one of the classes can be placed.
func (b *UnitBook) led(classes []int) bool {
	return slices.ContainsFunc(b.Units, func(u Unit) bool {
		return u.Count > 0 && b.leads(&u, classes) && b.holdsMore(&u, u.Members[0].Class, 0)
	})
}

// joinStranded lets stranded pods join units that were made after they were stranded, until none can. Pods that are left
// become units without a place.
func (b *UnitBook) joinStranded() {
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

// Follow adds n units of one pod of a class that may use only the bins hosts.
func (b *UnitBook) Follow(class int, n int64, hosts model.Bits) {
	if n > 0 {
		u := Unit{Members: []instance.Member{{Class: class, N: 1}}, Count: n}
		u.Signature = b.Number(b.Members(u.Members), hosts)
		b.Units = append(b.Units, u)
	}
}

// joinColocated makes one unit of the classes whose pods select each other by a target: as many as one node can hold, in
// binding order, because the first pod that binds decides the node of all.
func (b *UnitBook) joinColocated(class, target int) {
	var classes []int
	for i := range b.Locations.In.Planned {
		if i == class || b.states[i] == unsettled && slices.Contains(b.HostTargets(i), target) {
			if b.Among(i, target) && !b.Unplaceable[i] {
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
			u.Members = added(u.Members, instance.Member{Class: i, N: n})
		}
		b.stranded[i], b.Units[i].Count = b.Units[i].Count-n, 0
	}
	if len(u.Members) > 0 {
		b.Units = append(b.Units, u)
	}
}

// Members are the members of a unit's signature.
func (b *UnitBook) Members(shares []instance.Member) []Member {
	out := make([]Member, 0, len(shares))
	for _, s := range shares {
		c := b.Locations.In.Planned[s.Class]
		out = append(out, Member{Group: c.Group, TopologyTerms: c.TopologyTerms, Among: c.Among, N: s.N})
	}
	return out
}

// tooMuch is a request that no node can hold; sums are capped at it to avoid overflow.
const tooMuch = int64(1) << 61

// Request is the sum of the requests of a unit. The caller must not change it, because that of one pod is its class's.
func (b *UnitBook) Request(shares []instance.Member) []int64 {
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

// Priority is the lowest priority in a unit, because a pod cannot bind before the pod that it follows.
func (b *UnitBook) Priority(u *Unit) int32 {
	least := b.Locations.In.Planned[u.Members[0].Class].Priority
	for _, s := range u.Members {
		least = min(least, b.Locations.In.Planned[s.Class].Priority)
	}
	return least
}
