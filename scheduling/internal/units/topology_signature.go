package units

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Member is the properties of a class that decide where its pods may be: group, topology terms, and the set of targets
// that select it.
type Member struct {
	Group, TopologyTerms, Among int
	N                           int64 // pods of the class in one unit
}

// TopologySignature is equal for units with the same members, which may therefore be in the same places.
type TopologySignature struct {
	members []Member
	// Hosts, where it is set, are the only bins for its units. No offer is used then.
	Hosts model.Bits
	Rules []topology.Link // by rule, ascending
	// PerNodeLimits are the memberships of one unit.
	PerNodeLimits []model.Membership
	Preferences   []preference
	Part          *instance.Partition
	bins          model.Bits             // bins that admit it
	FeasibleSets  []instance.FeasibleSet // by site
	Sites         []topology.Site        // the sites as package topology takes them, without costs and bins; nil before the first use
	Market        *instance.Market
	Plain         bool // whether it has neither rules nor preferences
}

// preference is a preferred term of node affinity: its weight, and the axis that is 1 where it matches.
type preference struct {
	Weight int64
	Axis   int
}

// SignatureBook numbers the topology signatures.
type SignatureBook struct {
	*RuleBook
	List  []*TopologySignature
	Index map[string]int
}

// Number returns the number of the signature of some members, restricted to hosts unless that is nil. It is added at the
// first call, and must be linked before use.
func (b *SignatureBook) Number(members []Member, hosts model.Bits) int {
	var name []byte
	for _, m := range members {
		for _, v := range []int64{int64(m.Group), int64(m.TopologyTerms), int64(m.Among), m.N} {
			name = binary.AppendVarint(name, v)
		}
	}
	if hosts != nil {
		name = append(name, ';')
	}
	name = hosts.Append(name)
	if n, ok := b.Index[string(name)]; ok {
		return n
	}
	n := len(b.List)
	b.Index[string(name)] = n
	b.List = append(b.List, &TopologySignature{members: members, Hosts: hosts})
	return n
}

// Enter adds the rules and per-node limits of a member's terms.
func (b *SignatureBook) Enter(m Member) {
	podTerms := b.Locations.In.TopologyTerms.List[m.TopologyTerms]
	for _, t := range podTerms.Terms {
		switch {
		case !t.PerHost():
			b.Rule(t, m.Group, podTerms)
		case t.Kind != podspec.AffinityTerm:
			b.PerNodeLimit(t, b.Locations.In.TopologyTerms.Targets.Has(m.Among, t.Target))
		}
	}
}

// Link fills the rules, limits, preferences, sites and feasible sets of a signature. All rules must have been entered before.
func (b *SignatureBook) Link(k *TopologySignature) {
	rules := map[int]*topology.Link{}
	limits := map[int]*model.Membership{}
	rule := func(n int) *topology.Link {
		if rules[n] == nil {
			rules[n] = &topology.Link{Rule: int32(n)}
		}
		return rules[n]
	}
	limit := func(n int) *model.Membership {
		if limits[n] == nil {
			limits[n] = &model.Membership{Limit: int32(n)}
		}
		return limits[n]
	}
	for _, m := range k.members {
		podTerms := b.Locations.In.TopologyTerms.List[m.TopologyTerms]
		for _, t := range podTerms.Terms {
			switch {
			case !t.PerHost():
				rule(b.Rule(t, m.Group, podTerms)).Holds = true
			case t.Kind != podspec.AffinityTerm:
				limit(b.PerNodeLimit(t, b.Locations.In.TopologyTerms.Targets.Has(m.Among, t.Target))).Holds = true
			}
		}
		for _, target := range b.Locations.In.TopologyTerms.Targets.Sets[m.Among] {
			for _, n := range b.ByTarget[int(target)] {
				rule(n).Counts += m.N
			}
			for _, n := range b.PerNodeLimitsBy[int(target)] {
				limit(n).Weight += m.N
			}
		}
		for i := range podTerms.Preferences {
			w := &podTerms.Preferences[i]
			k.Preferences = append(k.Preferences, preference{Weight: w.Weight, Axis: b.Locations.PreferenceAxis(&w.Term)})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(rules)) {
		if b.vacuous(n) {
			continue
		}
		b.within(k, rules[n])
		k.Rules = append(k.Rules, *rules[n])
	}
	for _, n := range slices.Sorted(maps.Keys(limits)) {
		if b.Idle[n] {
			continue
		}
		k.PerNodeLimits = append(k.PerNodeLimits, *limits[n])
	}
	k.Preferences = slices.DeleteFunc(k.Preferences, func(w preference) bool { return b.Locations.Axes[w.Axis].Flat })
	k.Plain = len(k.Rules) == 0 && len(k.Preferences) == 0
	var axes []int
	for _, link := range k.Rules {
		axes = append(axes, b.Rules[link.Rule].Axis)
		if f := b.Rules[link.Rule].Filter; f >= 0 {
			axes = append(axes, f)
		}
	}
	for _, w := range k.Preferences {
		axes = append(axes, w.Axis)
	}
	k.Part = b.Locations.Partition(axes)
	k.bins = b.binsFor(k)
	k.FeasibleSets = make([]instance.FeasibleSet, k.Part.Sites)
	var groups []int
	for _, m := range k.members {
		groups = append(groups, m.Group)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if k.Hosts == nil {
		k.Market = b.Locations.Market(k.Part, groups, func() []instance.SiteRoom { return b.rooms(k) })
	}
	for site := range k.FeasibleSets {
		bins := b.binsAt(k, site)
		k.FeasibleSets[site] = instance.FeasibleSet{Groups: groups, Part: k.Part, Site: site, Bins: bins, NoNew: k.Hosts != nil}
	}
}

// within settles an affinity rule among pods of one unit. Where the unit has a pod that the rule selects and that needs
// no other pod, the pod binds first, so the rule is satisfied. Where a pod that has the rule is not selected by it, no
// pod of the unit can be the first, so the unit does not count.
func (b *SignatureBook) within(k *TopologySignature, link *topology.Link) {
	r := &b.Rules[link.Rule]
	if r.Term.Kind != podspec.AffinityTerm || !link.Holds || link.Counts == 0 || len(k.members) == 1 {
		return
	}
	targets := b.Locations.In.TopologyTerms.Targets
	led, selfless := false, false
	for _, m := range k.members {
		holds, follows := false, false
		for _, t := range b.Locations.In.TopologyTerms.List[m.TopologyTerms].Terms {
			if t.Kind == podspec.AffinityTerm && t.Weight == 0 {
				follows = follows || t.PerHost()
				holds = holds || !t.PerHost() && t.Target == r.Term.Target && t.Key == r.Term.Key
			}
		}
		counted := targets.Has(m.Among, r.Term.Target)
		led = led || counted && !follows && !holds
		selfless = selfless || holds && !counted
	}
	switch {
	case led:
		link.Holds = false
	case selfless:
		link.Counts = 0
	}
}

// binsFor is the set of bins that admit a signature, given the anti-affinity of running pods.
func (b *SignatureBook) binsFor(k *TopologySignature) model.Bits {
	l := b.Locations
	bins := model.NewBits(len(l.In.Nodes))
	needsHost := false
	for _, m := range k.members {
		for _, t := range l.In.TopologyTerms.List[m.TopologyTerms].Terms {
			needsHost = needsHost || t.PerHost() && t.Weight == 0 && t.Kind != podspec.AntiAffinityTerm && !t.Share
		}
	}
	for i, m := range k.members {
		if i == 0 {
			bins.Or(l.In.Open[m.Group])
		} else {
			bins.And(l.In.Open[m.Group])
		}
		for _, target := range l.In.TopologyTerms.Targets.Sets[m.Among] {
			if off := b.excludedBins[int(target)]; off != nil {
				bins.AndNot(off)
			}
		}
	}
	if k.Hosts != nil {
		bins.And(k.Hosts)
	}
	if needsHost {
		bins.And(l.BinsWith(corev1.LabelHostname))
	}
	return bins
}

// binsAt is the set of bins of a signature at a site.
func (b *SignatureBook) binsAt(k *TopologySignature, site int) model.Bits {
	if k.Part.Sites == 1 {
		return k.bins
	}
	out := k.Part.BinsAt(b.Locations, site).Clone()
	out.And(k.bins)
	return out
}

// Admits reports whether a column of the instance has all groups of a signature.
func (k *TopologySignature) Admits(column model.Bits) bool {
	for _, m := range k.members {
		if !column.Has(m.Group) {
			return false
		}
	}
	return true
}

// Costs returns, by site, the cost of one unit with a request: the least of the offers there, in nano-USD per hour, each
// times the largest share of the request in its room, with [instance.RankCost] for lower weights; [topology.Nowhere]
// where no offer fits. The result is shared and must not be changed.
func (b *SignatureBook) Costs(k *TopologySignature, request []int64) []int64 {
	if k.Hosts != nil {
		return slices.Repeat([]int64{topology.Nowhere}, k.Part.Sites)
	}
	m := k.Market
	name := make([]byte, 0, 3*len(request))
	for _, q := range request {
		name = binary.AppendVarint(name, q)
	}
	if out, ok := m.Costs[string(name)]; ok {
		return out
	}
	out := slices.Repeat([]int64{topology.Nowhere}, k.Part.Sites)
	for _, r := range m.Rooms {
		room := b.Locations.In.Rooms.Rooms[r.Room]
		if !model.Fits(room, request) {
			continue
		}
		share := 0.0
		for d, q := range request {
			if q > 0 {
				share = max(share, float64(q)/float64(room[d]))
			}
		}
		if cost := int64(share*float64(r.Cost)) + int64(r.Rank)*instance.RankCost; out[r.Site] == topology.Nowhere || cost < out[r.Site] {
			out[r.Site] = cost
		}
	}
	m.Costs[string(name)] = out
	return out
}

// rooms lists the cheapest offer of each room for a signature, by site and weight rank.
func (b *SignatureBook) rooms(k *TopologySignature) []instance.SiteRoom {
	l := b.Locations
	ranks := l.In.WeightRank()
	rooms, top := len(l.In.Rooms.Rooms), 0
	for _, rank := range ranks {
		top = max(top, int(rank)+1)
	}
	cheapest := make([]int64, k.Part.Sites*top*rooms) // plus 1; 0 for none
	for ti, v := range l.In.Templates {
		suits, choice, spots := map[int]bool{}, b.choiceAt(k, ti), b.spotChoiceAt(k, ti)
		for i, o := range l.In.Offered[ti].List {
			ok, known := suits[o.Column]
			if !known {
				ok = k.Admits(l.In.Columns.Rows[o.Column])
				suits[o.Column] = ok
			}
			site := int(k.Part.At[l.First[ti]+i])
			if !ok || !l.OnOffer(ti, o.Offer) || len(choice) > 0 && !choice[site] ||
				len(spots) > 0 && !spots[site] && l.In.Offers.Offers[o.Offer].Spot() {
				continue
			}
			have := &cheapest[(site*top+int(ranks[v.Number]))*rooms+o.Room]
			if cost := l.In.Offers.Offers[o.Offer].Cost; *have == 0 || cost < *have-1 {
				*have = cost + 1
			}
		}
	}
	var out []instance.SiteRoom
	for at, cost := range cheapest {
		if cost > 0 {
			out = append(out, instance.SiteRoom{Site: at / rooms / top, Room: at % rooms, Rank: at / rooms % top, Cost: cost - 1})
		}
	}
	return out
}

// choiceAt is, by site, whether the offers of a template for a signature satisfy the minValues of its NodePool; nil
// without minValues.
func (b *SignatureBook) choiceAt(k *TopologySignature, ti int) []bool {
	l := b.Locations
	if len(offers.FloorKeys(l.In.Templates[ti].Set)) == 0 {
		return nil
	}
	rows := make([]model.Bits, k.Part.Sites)
	for i, o := range l.In.Offered[ti].List {
		if !k.Admits(l.In.Columns.Rows[o.Column]) {
			continue
		}
		site := k.Part.At[l.First[ti]+i]
		if rows[site] == nil {
			rows[site] = model.NewBits(len(l.In.Offers.Offers))
		}
		rows[site].Set(o.Offer)
	}
	out := make([]bool, len(rows))
	for site, row := range rows {
		out[site] = l.In.ChoiceIn(l.In.Templates[ti], row)
	}
	return out
}

// spotChoiceAt is, by site, whether the spot offers of a template for a signature satisfy the policy's flexibility; nil
// without one.
func (b *SignatureBook) spotChoiceAt(k *TopologySignature, ti int) []bool {
	l := b.Locations
	if !offers.On(l.In.Facts.Solver.Flexibility) {
		return nil
	}
	out, seen := make([]bool, k.Part.Sites), make([]*offers.Choices, k.Part.Sites)
	for i, o := range l.In.Offered[ti].List {
		site, x := k.Part.At[l.First[ti]+i], &l.In.Offers.Offers[o.Offer]
		if out[site] || !x.Spot() || !k.Admits(l.In.Columns.Rows[o.Column]) {
			continue
		}
		if seen[site] == nil {
			seen[site] = offers.NewChoices(l.In.Facts.Solver.Flexibility)
		}
		out[site] = seen[site].Add(x) && seen[site].Enough()
	}
	return out
}
