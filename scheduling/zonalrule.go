package scheduling

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// zoneRule is placed pods that are spread over zones by one constraint, count for it
// themselves and ask the same of their nodes. In every plan that keeps the constraint
// there are so many of them in each zone.
type zoneRule struct {
	classes     []int // planned classes
	pods        int64
	spokesman   *corev1.Pod
	least, most []int64   // by zone
	weight      float64   // of what is at stake
	costs       []float64 // of all of its pods by zone, roughly; infinite where some cannot be bought for
}

// zoneBook is what the bound knows of zones.
type zoneBook struct {
	*prover
	land    *land
	zones   []string // those with nodes and those where pools may buy, sorted
	number  map[string]int
	rules   []zoneRule
	zonesOf []int // by offer; nil until asked
	// offersAt and rooms are what may be bought, and what running nodes have, by zone; nil until
	// asked.
	offersAt *zonalOffers
	rooms    []freeRoom
}

const (
	// mostZones and mostZoneClasses bound how many zones, and pods of how many classes in
	// how many zones, a bound tells apart.
	mostZones, mostZoneClasses = 16, 600
	// leastStake is how much dearer, as a share, the dearest zone has to be for it to matter
	// where pods are.
	leastStake = 0.01
)

// zoneRuleKey is equal for classes of one rule.
type zoneRuleKey struct {
	tie
	group int
	keys  string
}

// newZoneBook finds the rules by which the bound gains. It returns nil if there are none.
// A rule that a plan does not keep to as planners do, since there would be no place for all
// of its pods, bounds nothing.
func (pr *prover) newZoneBook(plan *Plan) *zoneBook {
	keys, rules := pr.zoneRules()
	if len(rules) == 0 {
		return nil
	}
	b := &zoneBook{prover: pr, land: pr.land(), number: map[string]int{}}
	b.readZones()
	if slices.Contains(b.zones, "") || len(b.zones) < 2 || len(b.zones) > mostZones {
		return nil
	}
	book, numbers := newRuleBook(b.land), make([]int, len(rules))
	for i := range rules {
		r := &rules[i]
		if r.weight = b.stake(r); r.weight > 0 {
			numbers[i] = book.rule(keys[i].tie, keys[i].group, b.bonds.list[b.planned[r.classes[0]].bonds])
		}
	}
	book.count()
	for i := range rules {
		if r := &rules[i]; r.weight > 0 && b.limit(r, keys[i], &book.rules[numbers[i]]) {
			b.rules = append(b.rules, *r)
		}
	}
	b.keepTo(plan)
	slices.SortStableFunc(b.rules, func(x, y zoneRule) int { return cmp.Compare(y.weight, x.weight) })
	classes := 0
	for i := range b.rules {
		if classes += len(b.rules[i].classes) * len(b.zones); classes > mostZoneClasses {
			b.rules = b.rules[:i]
			break
		}
	}
	if len(b.rules) == 0 {
		return nil
	}
	return b
}

// zoneRules are the constraints of placed pods that are about zones and count the pods
// that have them.
func (pr *prover) zoneRules() (keys []zoneRuleKey, rules []zoneRule) {
	index := map[zoneRuleKey]int{}
	for i, n := range pr.placed {
		if n <= 0 {
			continue
		}
		class := pr.planned[i]
		bonds := pr.bonds.list[class.bonds]
		t := bonds.overZones()
		if t == nil || !pr.bonds.targets.has(class.among, t.target) || slices.ContainsFunc(class.pods, hasClaims) {
			continue // where volumes can be is said in many ways
		}
		key := zoneRuleKey{tie: *t, group: class.group, keys: strings.Join(bonds.spreadKeys(true), ",")}
		at, known := index[key]
		if !known {
			at = len(rules)
			index[key] = at
			keys, rules = append(keys, key), append(rules, zoneRule{spokesman: class.pods[0]})
		}
		rules[at].classes = append(rules[at].classes, i)
		rules[at].pods += n
	}
	return keys, rules
}

// overZones is the constraint of topology spread that is over zones and must hold, nil for
// none. A pod has one at most.
func (b *bonds) overZones() *tie {
	at := slices.IndexFunc(b.ties, func(t tie) bool {
		return t.kind == spreadTie && t.weight == 0 && !t.share && t.key == corev1.LabelTopologyZone
	})
	if at < 0 {
		return nil
	}
	return &b.ties[at]
}

// hasClaims reports whether a pod has volumes that may tie it to a place.
func hasClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// readZones lists the zones.
func (b *zoneBook) readZones() {
	b.zones = compacted(slices.Concat(b.zonesOnSale(), b.land.country.column(corev1.LabelTopologyZone).values))
	for z, name := range b.zones {
		b.number[name] = z
	}
}

// zonesOnSale are the zones in which pools may buy, sorted.
func (b *zoneBook) zonesOnSale() []string {
	if b.assorted != nil && b.assorted.zones != nil {
		return b.assorted.zones
	}
	zones, last := []string{}, ""
	for _, v := range b.templates {
		v.within.Each(func(o int) {
			if x := &b.offers.offers[o]; x.launchable && (x.offering.Zone != last || len(zones) == 0) && !slices.Contains(zones, x.offering.Zone) {
				last = x.offering.Zone
				zones = append(zones, last)
			}
		})
	}
	zones = compacted(zones)
	b.learn(func(a *assortment) { a.zones = zones })
	return zones
}

// zoneOf is the zone of an offer, -1 where nobody may buy.
func (b *zoneBook) zoneOf(offer int) int {
	if b.zonesOf == nil {
		if known := b.knownZonal(); known != nil {
			b.zonesOf = known.of
		}
	}
	if b.zonesOf == nil {
		zones := b.offers.column(corev1.LabelTopologyZone)
		numbers := make([]int, len(zones.values))
		for i, zone := range zones.values {
			z, known := b.number[zone]
			if numbers[i] = z; !known {
				numbers[i] = -1
			}
		}
		b.zonesOf = make([]int, len(zones.numbers))
		for i, n := range zones.numbers {
			b.zonesOf[i] = numbers[n]
		}
	}
	return b.zonesOf[offer]
}

// stake is what it costs at most that pods have to be in a dear zone, roughly, or 0 where
// it hardly matters.
func (b *zoneBook) stake(r *zoneRule) (stake float64) {
	r.costs = make([]float64, len(b.zones))
	for _, i := range r.classes {
		class := b.planned[i]
		least := make([]float64, len(b.zones))
		for z, list := range b.zonalOffers().plain {
			for _, o := range list {
				x := &b.offers.offers[o.offer]
				room := b.compiler.rooms.rooms[o.room]
				if !b.columns.rows[o.column].Has(class.group) || !model.Fits(room, class.requests) {
					continue
				}
				share := 0.0
				for d, q := range class.requests {
					if q > 0 {
						share = max(share, float64(q)/float64(room[d]))
					}
				}
				if cost := share * float64(x.expected); cost > 0 && (least[z] == 0 || cost < least[z]) {
					least[z] = cost
				}
			}
		}
		for z, cost := range least {
			if cost == 0 {
				cost = math.Inf(1)
			}
			r.costs[z] += cost * float64(b.placed[i])
		}
		least = slices.DeleteFunc(least, func(cost float64) bool { return cost == 0 })
		if len(least) > 1 && slices.Max(least) > slices.Min(least)*(1+leastStake) {
			stake += (slices.Max(least) - slices.Min(least)) * float64(b.placed[i])
		}
	}
	return stake
}

// limit works out how many pods of a rule may be where, given what runs already, and reports
// whether that says anything.
func (b *zoneBook) limit(r *zoneRule, key zoneRuleKey, runs *rule) bool {
	s := zoneSpread{
		skew: key.maxSkew, placed: r.pods,
		running: make([]int64, len(b.zones)), counts: b.openZones(r, key),
	}
	for _, class := range b.planned {
		if b.bonds.targets.has(class.among, key.target) {
			s.pending += int64(len(class.pods))
		}
	}
	for at, d := range runs.domains {
		z, known := b.number[b.land.axes[runs.axis].values[at]]
		if known {
			s.running[z] = d.Count
			s.counts[z] = s.counts[z] || d.Eligible
		}
	}
	r.least, r.most = s.bounds()
	for z := range b.zones {
		if r.least[z] > 0 || r.most[z] < r.pods {
			return true
		}
	}
	return false
}

// gain is how much more the pods of all rules cost, roughly, than if they were in the cheapest
// zone: what there is for a bound to gain.
func (b *zoneBook) gain() (gain float64) {
	for i := range b.rules {
		r := &b.rules[i]
		cheapest := slices.Min(r.costs)
		if math.IsInf(cheapest, 1) {
			return cheapest // it hangs on nodes that run
		}
		s := bound.Spread{Least: r.least, Most: r.most, Kinds: []bound.Kind{{Count: r.pods}}}
		over := make([]float64, len(r.costs))
		for z, cost := range r.costs {
			over[z] = (cost - cheapest) / float64(r.pods)
		}
		gain += s.Cheapest(over)
	}
	return gain
}

// openZones are those in which a placed pod of the rule could have a machine of its own, with
// the choice of others there that its pool's minValues ask for, however open labels are settled.
func (b *zoneBook) openZones(r *zoneRule, key zoneRuleKey) []bool {
	open := make([]bool, len(b.zones))
	for ti, v := range b.templates {
		if b.opens(v) {
			continue
		}
		for _, i := range r.classes {
			if !slices.Contains(open, false) {
				return open
			}
			fits := make([]model.Bits, len(b.zones)) // the offers that hold a pod of the class
			for _, o := range b.offered[ti].list {
				x := &b.offers.offers[o.offer]
				z := b.zoneOf(o.offer)
				if z < 0 || open[z] || !b.columns.rows[o.column].Has(key.group) || x.spot() && b.solver.Flexibility.on() || !b.land.onOffer(ti, o.offer) ||
					!model.Fits(b.compiler.rooms.rooms[o.room], b.planned[i].requests) {
					continue
				}
				if fits[z] == nil {
					fits[z] = model.NewBits(len(b.offers.offers))
				}
				fits[z].Set(o.offer)
			}
			for z, row := range fits {
				open[z] = open[z] || row != nil && b.choiceIn(v, row)
			}
		}
	}
	return open
}

// opens reports whether a pool asks for a label of which the value is chosen for each launch.
func (b *zoneBook) opens(v *template) bool {
	return slices.ContainsFunc(v.pool.Spec.Template.Spec.Requirements, func(s requirements.Selector) bool {
		key := requirements.NormalizeKey(s.Key)
		return !requirements.WellKnown().Has(key) && !b.offers.defines(key, v.catalog)
	})
}

// keepTo drops the rules that the plan does not keep.
func (b *zoneBook) keepTo(plan *Plan) {
	if len(b.rules) == 0 || plan == nil {
		return
	}
	zoneOf := b.whereabouts(plan)
	b.rules = slices.DeleteFunc(b.rules, func(r zoneRule) bool {
		counts := make([]int64, len(b.zones))
		for _, i := range r.classes {
			for _, pod := range b.planned[i].pods {
				if z := zoneOf[podName(pod)]; z > 0 {
					counts[z-1]++
				}
			}
		}
		for z, n := range counts {
			if n < r.least[z] || n > r.most[z] {
				return true
			}
		}
		return false
	})
}

// whereabouts are the zones of the pods of a plan, from 1.
func (b *zoneBook) whereabouts(plan *Plan) map[string]int {
	zoneOf := map[string]int{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		for _, name := range l.Pods {
			zoneOf[name] = b.number[l.Options[0].Zone] + 1
		}
	}
	for _, a := range plan.Existing {
		if at, ok := b.land.nodeAt[a.Node]; ok {
			zone := b.land.places[at].labels[corev1.LabelTopologyZone]
			for _, name := range a.Pods {
				zoneOf[name] = b.number[zone] + 1
			}
		}
	}
	return zoneOf
}
