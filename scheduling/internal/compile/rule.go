package compile

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Rule is a tie whose domains are wider than a node, together with the nodes that it
// looks at.
type Rule struct {
	podspec.Tie
	Axis   int // of the label
	Filter int // axis that is 1 where a spread looks; -1 for everywhere
	// domains holds what runs already.
	Domains []topology.Domain
	Total   int64
	Loose   bool // it holds wherever pods go, as long as their nodes have the label
}

// PerNodeLimit bounds how many pods of a target may be on one machine with a pod that holds
// it to that: a spread or an anti-affinity whose domains are single nodes.
type PerNodeLimit struct {
	kind   podspec.TieKind
	target int
	Max    int64
	Weight int64
}

// RuleBook numbers the rules and the per-node limits of a problem.
type RuleBook struct {
	Locations       *LocationIndex
	Rules           []Rule
	RuleOf          map[RuleKey]int
	ByTarget        map[int][]int // rules that count a target
	PerNodeLimits   []PerNodeLimit
	perNodeLimitOf  map[PerNodeLimit]int
	PerNodeLimitsBy map[int][]int
	Idle            []bool // per-node limits that bind nobody; nil for none
	// keptOff are, by target, the bins that anti-affinity of what runs there keeps it off, and
	// that one node only.
	keptOff map[int]model.Bits
	Nearest nearBook // of parts that per-node limits concern
}

// RuleKey is what tells rules apart: the term, and the number of the filter on the nodes that
// it looks at.
type RuleKey struct {
	podspec.Tie
	Filter int
}

// NewRuleBook returns a book without rules.
func NewRuleBook(l *LocationIndex) *RuleBook {
	return &RuleBook{
		Locations: l, RuleOf: map[RuleKey]int{}, ByTarget: map[int][]int{},
		perNodeLimitOf: map[PerNodeLimit]int{}, PerNodeLimitsBy: map[int][]int{}, keptOff: map[int]model.Bits{}, Nearest: nearBook{},
	}
}

// Rule returns the number of the rule that a tie of a group is.
func (b *RuleBook) Rule(t podspec.Tie, group int, bonds *podspec.TopologyTerms) int {
	filterAxis := -1
	if t.Kind == podspec.SpreadTie {
		f := Filter{Group: -1, honorAffinity: t.HonorAffinity, honorTaints: t.HonorTaints, keys: strings.Join(bonds.SpreadKeys(t.Weight == 0), ",")}
		if t.HonorAffinity || t.HonorTaints {
			f.Group = group
		}
		filterAxis = b.Locations.FilterAxis(f)
		t.HonorAffinity, t.HonorTaints = false, false // the filter says it
	}
	key := RuleKey{Tie: t, Filter: filterAxis}
	if n, ok := b.RuleOf[key]; ok {
		return n
	}
	n := len(b.Rules)
	axis := b.Locations.KeyAxis(t.Key)
	b.RuleOf[key] = n
	b.Rules = append(b.Rules, Rule{Tie: t, Axis: axis, Filter: filterAxis, Domains: make([]topology.Domain, len(b.Locations.Axes[axis].Values))})
	b.ByTarget[t.Target] = append(b.ByTarget[t.Target], n)
	return n
}

// PerNodeLimit returns the number of the per-node limit that a tie per host is for pods that are, or
// are not, of the target themselves.
func (b *RuleBook) PerNodeLimit(t podspec.Tie, self bool) int {
	k := PerNodeLimit{kind: t.Kind, target: t.Target, Max: t.MaxSkew, Weight: t.Weight}
	if t.Kind == podspec.AntiTie {
		k.Max = 0
		if self {
			k.Max = 1
		}
	}
	if n, ok := b.perNodeLimitOf[k]; ok {
		return n
	}
	n := len(b.PerNodeLimits)
	b.perNodeLimitOf[k] = n
	b.PerNodeLimits = append(b.PerNodeLimits, k)
	b.PerNodeLimitsBy[t.Target] = append(b.PerNodeLimitsBy[t.Target], n)
	return n
}

// Keep notes what running pods keep away from their nodes.
func (b *RuleBook) Keep() {
	for k, node := range b.Locations.Kept() {
		if k.PerHost() {
			b.keepOff(k.Target, b.Locations.BinOf[node])
			continue
		}
		r := &b.Rules[b.Rule(k.Tie, -1, nil)]
		if at := b.Locations.Axes[r.Axis].At[b.Locations.OnSale+node]; at >= 0 {
			r.Domains[at].Holders++
		}
	}
}

// keepOff notes that a target is kept off a bin.
func (b *RuleBook) keepOff(target int, bin int32) {
	if bin < 0 {
		return
	}
	if b.keptOff[target] == nil {
		b.keptOff[target] = model.NewBits(len(b.Locations.Nodes))
	}
	b.keptOff[target].Set(int(bin))
}

// Planned returns the rules in the planner's form.
func (b *RuleBook) Planned() []topology.Rule {
	kinds := map[podspec.TieKind]topology.Kind{podspec.SpreadTie: topology.Spread, podspec.AffinityTie: topology.Affinity, podspec.AntiTie: topology.Anti}
	out := make([]topology.Rule, len(b.Rules))
	for i := range b.Rules {
		r := &b.Rules[i]
		out[i] = topology.Rule{
			Kind: kinds[r.Kind], Max: r.MaxSkew, MinDomains: r.MinDomains, Weight: r.Weight,
			Domains: slices.Clone(r.Domains), Total: r.Total,
		}
	}
	return out
}
