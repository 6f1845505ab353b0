package scheduling

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// rule is a tie whose domains are wider than a node, together with the nodes that it
// looks at.
type rule struct {
	tie
	axis   int // of the label
	filter int // axis that is 1 where a spread looks; -1 for everywhere
	// domains holds what runs already.
	domains []topology.Domain
	total   int64
	loose   bool // it holds wherever pods go, as long as their nodes have the label
}

// crowd bounds how many pods of a target may be on one machine with a pod that holds
// it to that: a spread or an anti-affinity whose domains are single nodes.
type crowd struct {
	kind   tieKind
	target int
	max    int64
	weight int64
}

// ruleBook numbers the rules and the crowds of a problem.
type ruleBook struct {
	land     *land
	rules    []rule
	ruleOf   map[ruleKey]int
	byTarget map[int][]int // rules that count a target
	crowds   []crowd
	crowdOf  map[crowd]int
	crowdsBy map[int][]int
	idle     []bool // crowds that bind nobody; nil for none
	// keptOff are, by target, the bins that anti-affinity of what runs there keeps it off, and
	// that one node only.
	keptOff map[int]model.Bits
	nearest nearBook // of parts that crowds concern
}

type ruleKey struct {
	tie
	filter int
}

func newRuleBook(l *land) *ruleBook {
	return &ruleBook{
		land: l, ruleOf: map[ruleKey]int{}, byTarget: map[int][]int{},
		crowdOf: map[crowd]int{}, crowdsBy: map[int][]int{}, keptOff: map[int]model.Bits{}, nearest: nearBook{},
	}
}

// rule returns the number of the rule that a tie of a group is.
func (b *ruleBook) rule(t tie, group int, bonds *bonds) int {
	filterAxis := -1
	if t.kind == spreadTie {
		f := filter{group: -1, honorAffinity: t.honorAffinity, honorTaints: t.honorTaints, keys: strings.Join(bonds.spreadKeys(t.weight == 0), ",")}
		if t.honorAffinity || t.honorTaints {
			f.group = group
		}
		filterAxis = b.land.filterAxis(f)
		t.honorAffinity, t.honorTaints = false, false // the filter says it
	}
	key := ruleKey{tie: t, filter: filterAxis}
	if n, ok := b.ruleOf[key]; ok {
		return n
	}
	n := len(b.rules)
	axis := b.land.keyAxis(t.key)
	b.ruleOf[key] = n
	b.rules = append(b.rules, rule{tie: t, axis: axis, filter: filterAxis, domains: make([]topology.Domain, len(b.land.axes[axis].values))})
	b.byTarget[t.target] = append(b.byTarget[t.target], n)
	return n
}

// crowd returns the number of the crowd that a tie per host is for pods that are, or
// are not, of the target themselves.
func (b *ruleBook) crowd(t tie, self bool) int {
	k := crowd{kind: t.kind, target: t.target, max: t.maxSkew, weight: t.weight}
	if t.kind == antiTie {
		k.max = 0
		if self {
			k.max = 1
		}
	}
	if n, ok := b.crowdOf[k]; ok {
		return n
	}
	n := len(b.crowds)
	b.crowdOf[k] = n
	b.crowds = append(b.crowds, k)
	b.crowdsBy[t.target] = append(b.crowdsBy[t.target], n)
	return n
}

// keep notes what running pods keep away from their nodes.
func (b *ruleBook) keep() {
	for k, node := range b.land.kept() {
		if k.perHost() {
			b.keepOff(k.target, b.land.binOf[node])
			continue
		}
		r := &b.rules[b.rule(k.tie, -1, nil)]
		if at := b.land.axes[r.axis].at[b.land.onSale+node]; at >= 0 {
			r.domains[at].Holders++
		}
	}
}

// keepOff notes that a target is kept off a bin.
func (b *ruleBook) keepOff(target int, bin int32) {
	if bin < 0 {
		return
	}
	if b.keptOff[target] == nil {
		b.keptOff[target] = model.NewBits(len(b.land.nodes))
	}
	b.keptOff[target].Set(int(bin))
}

// planned returns the rules in the planner's form.
func (b *ruleBook) planned() []topology.Rule {
	kinds := map[tieKind]topology.Kind{spreadTie: topology.Spread, affinityTie: topology.Affinity, antiTie: topology.Anti}
	out := make([]topology.Rule, len(b.rules))
	for i := range b.rules {
		r := &b.rules[i]
		out[i] = topology.Rule{
			Kind: kinds[r.kind], Max: r.maxSkew, MinDomains: r.minDomains, Weight: r.weight,
			Domains: slices.Clone(r.domains), Total: r.total,
		}
	}
	return out
}
