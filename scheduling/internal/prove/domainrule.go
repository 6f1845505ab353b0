package prove

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// domainRule is the placed pods of one topology spread constraint that selects them, or of one anti-affinity term that
// keeps them apart, over domains. Every plan that satisfies it has between least and most of them in each domain.
type domainRule struct {
	classes        []int // planned classes
	pods           int64
	representative *corev1.Pod
	least, most    []int64   // by domain
	weight         float64   // price difference that depends on it, see [domainBook.priceSpread]
	costs          []float64 // rough price of all of its pods by domain; infinite where a pod fits no offer
}

// domainBook is the domains of one label, e.g. zones, with the rules over them.
type domainBook struct {
	in         *instance.Instance
	prover     *prover
	key        string // the topology key
	locations  *instance.LocationIndex
	domains    []string // values of the label on nodes and offers, sorted
	number     map[string]int
	unlabelled bool // whether there are offers without the label
	rules      []domainRule
	// offersAt and rooms are the offers and the free room of nodes by domain; nil before the first use.
	offersAt *instance.DomainOffers
	rooms    []freeRoom
	open     map[string][]bool // results of [domainBook.openTo]
}

const (
	// mostDomains bounds the domains, and mostDomainClasses the classes times domains, of a bound by domains.
	mostDomains, mostDomainClasses = 16, 600
	// leastSpread is the share by which the dearest domain must be dearer than the cheapest, else domains do not
	// matter.
	leastSpread = 0.01
)

// domainRuleKey is equal for classes that have the same rule. group is -1 for anti-affinity.
type domainRuleKey struct {
	term  podspec.TopologyTerm
	group int
	keys  string
}

// newDomainBook reads the domains and rules of the topology key whose rules have the most weight; nil without a rule that can
// raise the bound, or past the deadline. proven is the bound without domains.
func newDomainBook(ctx context.Context, pr *prover, plan *scheduling.Plan, proven int64) (best *domainBook) {
	most := 0.0
	for _, key := range domainKeys(pr.in, pr.placed) {
		b := domainBookOver(ctx, pr, key, plan, proven)
		if b == nil {
			continue
		}
		stake := 0.0
		for i := range b.rules {
			stake += b.rules[i].weight
		}
		if stake > most {
			best, most = b, stake
		}
	}
	return best
}

// domainBookOver reads the domains and rules of a topology key; nil as in [newDomainBook]. A rule that the plan does not
// satisfy is left out, because the bound must hold for that plan, too.
func domainBookOver(ctx context.Context, pr *prover, key string, plan *scheduling.Plan, proven int64) *domainBook {
	b := newBareBook(pr, key)
	keys, rules := b.domainRules()
	if len(rules) == 0 || !b.readDomains() {
		return nil
	}
	book, numbers := units.NewRuleBook(b.locations), make([]int, len(rules))
	for i := range rules {
		if ctx.Err() != nil {
			return nil
		}
		r := &rules[i]
		var alone float64
		if r.weight, alone = b.priceSpread(r); keys[i].term.Kind == podspec.AntiAffinityTerm && alone > float64(proven) {
			r.weight += alone
		}
		if r.weight > 0 {
			numbers[i] = book.Rule(keys[i].term, keys[i].group, b.in.TopologyTerms.List[b.in.Planned[r.classes[0]].TopologyTerms])
		}
	}
	book.Count()
	order := make([]int, len(rules))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(rules[y].weight, rules[x].weight) })
	domainOf, classes := b.whereabouts(plan), 0
	for _, i := range order {
		r := &rules[i]
		if r.weight <= 0 || ctx.Err() != nil {
			break
		}
		if !b.limit(r, keys[i], &book.Rules[numbers[i]]) || plan != nil && !b.keeps(domainOf, r) {
			continue
		}
		if classes += len(r.classes) * len(b.domains); classes > mostDomainClasses {
			break
		}
		b.rules = append(b.rules, *r)
	}
	if len(b.rules) == 0 || ctx.Err() != nil {
		return nil
	}
	return b
}

// domainRules reads the spread constraints and anti-affinity terms over domains of placed pods that select the pods
// themselves. Pods of a spread rule are of one group; pods of an anti-affinity rule may differ in node constraints.
func (b *domainBook) domainRules() (keys []domainRuleKey, rules []domainRule) {
	index := map[domainRuleKey]int{}
	for i, n := range b.prover.placed {
		if n <= 0 {
			continue
		}
		class := b.in.Planned[i]
		podTerms := b.in.TopologyTerms.List[class.TopologyTerms]
		t := b.ruleOf(podTerms)
		if t == nil {
			t = b.termOf(class)
		}
		if t == nil || !b.in.TopologyTerms.Targets.Has(class.Among, t.Target) {
			continue
		}
		key := domainRuleKey{term: *t, group: -1}
		if t.Kind == podspec.SpreadTerm {
			if key.group, key.keys = class.Group, strings.Join(podTerms.SpreadKeys(true), ","); slices.ContainsFunc(class.Pods, hasClaims) {
				continue // because a verifier does not compare wordings of volumes' node affinity
			}
		}
		at, known := index[key]
		if !known {
			at = len(rules)
			index[key] = at
			keys, rules = append(keys, key), append(rules, domainRule{representative: class.Pods[0]})
		}
		rules[at].classes = append(rules[at].classes, i)
		rules[at].pods += n
	}
	return keys, rules
}

// ruleOf is the required spread constraint over the topology key; nil for none. Kubernetes allows one for each key.
func (b *domainBook) ruleOf(terms *podspec.TopologyTerms) *podspec.TopologyTerm {
	at := slices.IndexFunc(terms.Terms, func(t podspec.TopologyTerm) bool {
		return t.Kind == podspec.SpreadTerm && t.Weight == 0 && !t.Share && t.Key == b.key
	})
	if at < 0 {
		return nil
	}
	return &terms.Terms[at]
}

// termOf is the required anti-affinity term over the topology key that selects the pods of the class itself; nil for
// none.
func (b *domainBook) termOf(class *podspec.PodClass) *podspec.TopologyTerm {
	terms := b.in.TopologyTerms.List[class.TopologyTerms].Terms
	at := slices.IndexFunc(terms, func(t podspec.TopologyTerm) bool {
		return t.Kind == podspec.AntiAffinityTerm && t.Weight == 0 && t.Key == b.key && b.in.TopologyTerms.Targets.Has(class.Among, t.Target)
	})
	if at < 0 {
		return nil
	}
	return &terms[at]
}

// hasClaims reports whether a pod has volumes that may restrict it to nodes.
func hasClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// priceSpread is the rough difference in price, in nano-USD per hour, between the dearest and the cheapest domain for the
// rule's pods, 0 below [leastSpread]; alone is their price with one node each. It fills the rule's costs.
func (b *domainBook) priceSpread(r *domainRule) (priceSpread, alone float64) {
	r.costs = make([]float64, len(b.domains))
	for _, i := range r.classes {
		class := b.in.Planned[i]
		least, whole := make([]float64, len(b.domains)), 0.0
		for z, list := range b.domainOffers().Plain[:len(b.domains)] {
			for _, o := range list {
				x := &b.in.Offers.Offers[o.Offer]
				room := b.in.Rooms.Rooms[o.Room]
				if !b.in.Columns.Rows[o.Column].Has(class.Group) || !model.Fits(room, class.Requests) {
					continue
				}
				share := 0.0
				for d, q := range class.Requests {
					if q > 0 {
						share = max(share, float64(q)/float64(room[d]))
					}
				}
				if price := float64(x.Expected); whole == 0 || price < whole {
					whole = price
				}
				if cost := share * float64(x.Expected); cost > 0 && (least[z] == 0 || cost < least[z]) {
					least[z] = cost
				}
			}
		}
		for z, cost := range least {
			if cost == 0 {
				cost = math.Inf(1)
			}
			r.costs[z] += cost * float64(b.prover.placed[i])
		}
		least = slices.DeleteFunc(least, func(cost float64) bool { return cost == 0 })
		if len(least) > 1 && slices.Max(least) > slices.Min(least)*(1+leastSpread) {
			priceSpread += (slices.Max(least) - slices.Min(least)) * float64(b.prover.placed[i])
		}
		alone += whole * float64(b.prover.placed[i])
	}
	return priceSpread, alone
}

// limit fills least and most of a rule, given the running pods, and reports whether they restrict any domain.
func (b *domainBook) limit(r *domainRule, key domainRuleKey, runs *units.Rule) bool {
	s := DomainSpread{Skew: key.term.MaxSkew, Apart: key.term.Kind == podspec.AntiAffinityTerm, Placed: r.pods, Running: make([]int64, len(b.domains)), Counts: make([]bool, len(b.domains))}
	if !s.Apart {
		s.Counts = b.openDomains(r, key)
	} else if b.unlabelled || !b.labelled(b.key) {
		return false
	}
	for _, class := range b.in.Planned {
		if b.in.TopologyTerms.Targets.Has(class.Among, key.term.Target) {
			s.Pending += int64(len(class.Pods))
		}
	}
	for at, d := range runs.Domains {
		z, known := b.number[b.locations.Axes[runs.Axis].Values[at]]
		if known {
			s.Running[z] = d.Count
			s.Counts[z] = s.Counts[z] || d.Eligible
		}
	}
	if r.least, r.most = s.Bounds(); podspec.Sum(r.most) < r.pods {
		return false // because no plan places all of its pods
	}
	for z := range b.domains {
		if r.least[z] > 0 || r.most[z] < r.pods {
			return true
		}
	}
	return false
}

// gain is the rough price of the rules, in nano-USD per hour: the cheapest allowed distribution less all pods in the
// cheapest domain.
func (b *domainBook) gain() (gain float64) {
	for i := range b.rules {
		r := &b.rules[i]
		cheapest := slices.Min(r.costs)
		if math.IsInf(cheapest, 1) {
			return cheapest // because the price then depends on existing nodes
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

// openDomains are the domains in which every planner could launch a node for a placed pod of the rule, see
// [domainBook.openTo].
func (b *domainBook) openDomains(r *domainRule, key domainRuleKey) []bool {
	open := make([]bool, len(b.domains))
	for _, i := range r.classes {
		for z, is := range b.openTo(key.group, b.in.Planned[i].Requests) {
			open[z] = open[z] || is
		}
	}
	return open
}

// openTo are the domains in which a pod with a group and requests could have a new node to itself, within limits and
// minValues, whatever values open labels get.
func (b *domainBook) openTo(group int, requests []int64) []bool {
	name := binary.AppendVarint(nil, int64(group))
	for _, q := range requests {
		name = binary.AppendVarint(name, q)
	}
	if known, ok := b.open[string(name)]; ok {
		return known
	}
	open := make([]bool, len(b.domains))
	for ti, v := range b.in.Templates {
		if b.daemonsDiffer(v) {
			continue
		}
		fits := make([]model.Bits, len(b.domains)) // by domain, the offers with room for the pod
		for _, o := range b.in.Offered[ti].List {
			x := &b.in.Offers.Offers[o.Offer]
			z := b.domainOf(v, o.Offer)
			if z < 0 || z == len(b.domains) || open[z] || !b.in.Columns.Rows[o.Column].Has(group) || x.Spot() && offers.On(b.in.Facts.Solver.Flexibility) || !b.locations.OnOffer(ti, o.Offer) ||
				!model.Fits(b.in.Rooms.Rooms[o.Room], requests) {
				continue
			}
			if fits[z] == nil {
				fits[z] = model.NewBits(len(b.in.Offers.Offers))
			}
			fits[z].Set(o.Offer)
		}
		for z, row := range fits {
			open[z] = open[z] || row != nil && b.in.ChoiceIn(v, row)
		}
	}
	b.open[string(name)] = open
	return open
}

// daemonsDiffer reports whether an open label of a template decides which daemons run on its nodes.
func (b *domainBook) daemonsDiffer(v *offers.Template) (differ bool) {
	for _, d := range b.in.Daemons {
		d.Constraint.Expressions(func(e *podspec.Expression) { differ = differ || v.Open[e.Key()] })
	}
	return differ
}

// keeps reports whether a plan satisfies least and most of a rule. domainOf is the domain of each pod, from 1.
func (b *domainBook) keeps(domainOf map[string]int, r *domainRule) bool {
	counts := make([]int64, len(b.domains)+1)
	for _, i := range r.classes {
		for _, pod := range b.in.Planned[i].Pods {
			if z := domainOf[podspec.PodName(pod)]; z > 0 {
				counts[z-1]++
			}
		}
	}
	for z, n := range counts[:len(b.domains)] {
		if n < r.least[z] || n > r.most[z] {
			return false
		}
	}
	return true
}
