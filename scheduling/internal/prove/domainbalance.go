package prove

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/lagrangian"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// balance is the instance of the Lagrangian bound for topology spread that counts pods of other workloads, too. It uses
// only the consequence of a rule that holds for every binding order: a domain with a pod that has the constraint has at
// most the pods of the emptiest domain plus the skew.
type balance struct {
	in      *instance.Instance
	prover  *prover
	book    *domainBook
	problem lagrangian.Problem
	rules   []balanceRule
	groups  [][]model.ClassID // by index of the problem's pods, their planned classes
}

// balanceRule is a topology spread constraint over domains. running is the number of selected running pods by domain,
// level the domains whose minimum counts.
type balanceRule struct {
	target         int
	skew           int64
	classes        []int // planned classes that have it
	representative *corev1.Pod
	running        []int64
	level          []bool
	// kept says that the plan satisfies it and all pods that it selects are placed.
	kept bool
}

// mostGroups is the number of distinct groups of equal pods above which the bound is not tried.
const mostGroups = 4_000

// newBalance is the instance for the first label over which it can raise the bound; nil if there is none.
func newBalance(pr *prover, plan *scheduling.Plan) *balance {
	for _, key := range domainKeys(pr.in, pr.placed) {
		if m := balanceOver(pr, key, plan); m != nil {
			return m
		}
	}
	return nil
}

// balanceOver is the instance for a label; nil where the rules are not understood, not kept or not binding.
func balanceOver(pr *prover, key string, plan *scheduling.Plan) *balance {
	m := &balance{in: pr.in, prover: pr, book: newBareBook(pr, key)}
	keys := m.readRules()
	if len(m.rules) == 0 || !m.book.readDomains() || m.book.unlabelled || !m.book.labelled(key) || !m.book.labelled(corev1.LabelHostname) {
		return nil
	}
	m.count(keys)
	if m.keepOnly(plan); len(m.rules) == 0 {
		return nil
	}
	m.addPods()
	if len(m.groups) > mostGroups {
		return nil
	}
	for z := range m.book.domains {
		m.problem.Domains = append(m.problem.Domains, m.marketOf(z))
	}
	return m
}

// readRules reads the spread constraints of placed pods that count pods on every node. It returns their keys for the
// rule book, in the order of rules.
func (m *balance) readRules() (keys []domainRuleKey) {
	type ruleKey struct {
		target int
		skew   int64
	}
	index := map[ruleKey]int{}
	for i, n := range m.prover.placed {
		if n <= 0 {
			continue
		}
		class := m.in.Planned[i]
		podTerms := m.in.TopologyTerms.List[class.TopologyTerms]
		t := m.book.ruleOf(podTerms)
		if t == nil || !looksEverywhere(class.Pods[0], t, podTerms.SpreadKeys(true)) {
			continue
		}
		key := ruleKey{t.Target, t.MaxSkew}
		r, known := index[key]
		if !known {
			r = len(m.rules)
			index[key] = r
			m.rules = append(m.rules, balanceRule{target: t.Target, skew: t.MaxSkew, representative: class.Pods[0], kept: !m.waitsFor(t.Target)})
			keys = append(keys, domainRuleKey{term: *t, group: class.Group})
		}
		m.rules[r].classes = append(m.rules[r].classes, i)
		if slices.ContainsFunc(class.Pods, hasClaims) {
			m.rules[r].kept = false // because a verifier does not compare wordings of volumes' node affinity
		}
	}
	return keys
}

// looksEverywhere reports whether a spread constraint counts every node that has its topology key and a host name, i.e.
// neither taints nor node affinity exclude one.
func looksEverywhere(pod *corev1.Pod, t *podspec.TopologyTerm, keys []string) bool {
	if t.HonorTaints || slices.ContainsFunc(keys, func(key string) bool { return key != t.Key && key != corev1.LabelHostname }) {
		return false
	}
	if !t.HonorAffinity {
		return true
	}
	a := pod.Spec.Affinity
	return len(pod.Spec.NodeSelector) == 0 && (a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil)
}

// waitsFor reports whether a pending pod of a target is not placed.
func (m *balance) waitsFor(target int) bool {
	for i, class := range m.in.Planned {
		if m.prover.placed[i] < int64(len(class.Pods)) && m.in.TopologyTerms.Targets.Has(class.Among, target) {
			return true
		}
	}
	return false
}

// count fills running and level of the rules from running pods and eligible nodes.
func (m *balance) count(keys []domainRuleKey) {
	book, numbers := units.NewRuleBook(m.book.locations), make([]int, len(keys))
	for i, key := range keys {
		numbers[i] = book.Rule(key.term, key.group, m.in.TopologyTerms.List[m.in.Planned[m.rules[i].classes[0]].TopologyTerms])
	}
	book.Count()
	for i := range m.rules {
		r := &m.rules[i]
		r.running = make([]int64, len(m.book.domains))
		r.level = m.openFor(r.classes)
		runs := &book.Rules[numbers[i]]
		for at, d := range runs.Domains {
			if z, known := m.book.number[m.book.locations.Axes[runs.Axis].Values[at]]; known {
				r.running[z] = d.Count
				r.level[z] = r.level[z] || d.Eligible
			}
		}
	}
}

// openFor are the domains in which a pod of one of the classes could have a new node to itself.
func (m *balance) openFor(classes []int) []bool {
	open, groups := make([]bool, len(m.book.domains)), map[int][]int{}
	for _, i := range classes {
		g := m.in.Planned[i].Group
		groups[g] = append(groups[g], i)
	}
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		for z, is := range m.book.openDomains(&domainRule{classes: groups[g]}, domainRuleKey{group: g}) {
			open[z] = open[z] || is
		}
	}
	return open
}

// keepOnly drops rules that the plan does not satisfy, and both of two rules that select the same pods. It drops all
// where no domain is dearer than another.
func (m *balance) keepOnly(plan *scheduling.Plan) {
	domainOf := m.book.whereabouts(plan)
	matters := false
	for i := range m.rules {
		r := &m.rules[i]
		r.kept = r.kept && m.keeps(r, domainOf)
		for k := range m.rules[:i] {
			if o := &m.rules[k]; o.skew == r.skew && slices.Equal(m.prover.amongPlaced(o.target), m.prover.amongPlaced(r.target)) {
				o.kept, r.kept = false, false
			}
		}
		stake, _ := m.book.priceSpread(&domainRule{classes: r.classes})
		matters = matters || r.kept && stake > 0
	}
	m.rules = slices.DeleteFunc(m.rules, func(r balanceRule) bool { return !r.kept || !matters })
}

// keeps reports whether the final state of a plan satisfies a rule. domainOf is the domain of each pod, from 1.
func (m *balance) keeps(r *balanceRule, domainOf map[string]int) bool {
	counts, held := append(slices.Clone(r.running), 0), make([]bool, len(m.book.domains)+1)
	for i, class := range m.in.Planned {
		holds, counted := slices.Contains(r.classes, i), m.in.TopologyTerms.Targets.Has(class.Among, r.target)
		if !holds && !counted {
			continue
		}
		for _, pod := range class.Pods {
			if z := domainOf[podspec.PodName(pod)] - 1; z >= 0 {
				held[z] = held[z] || holds
				if counted {
					counts[z]++
				}
			}
		}
	}
	least, some := int64(0), false
	counts = counts[:len(m.book.domains)]
	for z, n := range counts {
		if r.level[z] && (!some || n < least) {
			least, some = n, true
		}
	}
	for z, n := range counts {
		if held[z] && some && n > least+r.skew {
			return false
		}
	}
	return true
}

// addPods splits the prover's classes by the rules that pods have and that select them.
func (m *balance) addPods() {
	asks := map[int]int{}
	for r := range m.rules {
		m.problem.Rules = append(m.problem.Rules, lagrangian.Rule{Skew: m.rules[r].skew, Running: m.rules[r].running, Level: m.rules[r].level})
		for _, i := range m.rules[r].classes {
			asks[i] = r
		}
	}
	for c, ids := range m.prover.classes {
		first := len(m.problem.Pods)
		for _, id := range ids {
			f := lagrangian.Pods{Class: c, Count: m.prover.placed[id], Asks: -1}
			if r, holds := asks[int(id)]; holds {
				f.Asks = r
			}
			for r := range m.rules {
				if m.in.TopologyTerms.Targets.Has(m.in.Planned[id].Among, m.rules[r].target) {
					f.Counted = append(f.Counted, r)
				}
			}
			at := slices.IndexFunc(m.problem.Pods[first:], func(x lagrangian.Pods) bool { return x.Asks == f.Asks && slices.Equal(x.Counted, f.Counted) })
			if at < 0 {
				m.problem.Pods, m.groups = append(m.problem.Pods, f), append(m.groups, []model.ClassID{id})
				continue
			}
			m.problem.Pods[first+at].Count += f.Count
			m.groups[first+at] = append(m.groups[first+at], id)
		}
	}
}

// marketOf is the supply of a domain: its offers and the free room of its nodes.
func (m *balance) marketOf(domain int) bound.Market {
	out := bound.Market{Dims: m.prover.market.Dims, Classes: m.prover.market.Classes}
	m.prover.sell(newReservedSupplies(m.in, &out), 0, m.book.domainOffers().Kept[domain], m.prover.admitted)
	if m.book.rooms == nil {
		m.book.rooms = m.prover.fewRooms(mostFreeRooms, func(n *instance.ExistingNode) int { return m.book.domainOfNode(n.Labels) })
	}
	for i := range m.book.rooms {
		r := &m.book.rooms[i]
		if r.domain != domain {
			continue
		}
		choice := bound.Choice{Cap: r.room, Users: m.prover.admitted(r.column)}
		if m.prover.usable(choice.Cap, choice.Users) {
			out.Supplies = append(out.Supplies, bound.Supply{Count: r.count, Members: []bound.Choice{choice}})
		}
	}
	return out
}

// levelled is the bound on plans that satisfy the given rules, kept for plans with the same ones.
type levelled struct {
	key         string
	rules       []int // targets and skews
	bound       offerings.Price
	certificate *certificate.Certificate
}

// balanced is the larger of the proven bound and, unless that is at least near, the bound on plans that satisfy the
// spread constraints which the given plan satisfies.
func (k *proven) balanced(ctx context.Context, effort scheduling.Effort, plan *scheduling.Plan, near int64) (offerings.Price, *certificate.Certificate) {
	if plan == nil || k.prover == nil || int64(k.bound) >= near || effort == scheduling.EffortFast || ctx.Err() != nil {
		return k.bound, k.certificate
	}
	m := newBalance(k.prover, plan)
	if m == nil {
		return k.bound, k.certificate
	}
	x := &levelled{key: m.book.key}
	for i := range m.rules {
		x.rules = append(x.rules, m.rules[i].target, int(m.rules[i].skew))
	}
	if k.level == nil || k.level.key != m.book.key || !slices.Equal(k.level.rules, x.rules) {
		x.bound, x.certificate = k.bound, k.certificate
		work := boundEffort(ctx, effort, len(m.prover.classes), len(m.prover.market.Options))
		if out, ok := lagrangian.Solve(&m.problem, k.start, &k.assigned, work); ok && out.Bound > int64(k.bound) {
			x.bound, x.certificate = offerings.Price(out.Bound), m.certificate(&out)
		}
		if k.level = x; ctx.Err() != nil {
			k.level = nil
		}
		return x.bound, x.certificate
	}
	return k.level.bound, k.level.certificate
}
