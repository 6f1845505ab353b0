package units

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Rule is a topology term over domains of more than one node, e.g. zones, with the nodes that it counts.
type Rule struct {
	Term   podspec.TopologyTerm
	Axis   int // axis of the topology key
	Filter int // axis that is 1 where a spread counts; -1 for all nodes
	// Domains are the values of the axis, with the number of running pods in each.
	Domains []topology.Domain
	Total   int64
	Loose   bool // whether it only demands the label, see [reduceToPresence]
}

// PerNodeLimit is a spread or anti-affinity term per host: at most Max pods of the target may be on a node with a pod
// that has the term. Weight is 0 for required terms.
type PerNodeLimit struct {
	kind   podspec.TopologyTermKind
	target int
	Max    int64
	Weight int64
}

// RuleBook numbers the rules and the per-node limits of a problem.
type RuleBook struct {
	Locations       *instance.LocationIndex
	Rules           []Rule
	RuleOf          map[RuleKey]int
	ByTarget        map[int][]int // by target, the rules that count it
	PerNodeLimits   []PerNodeLimit
	perNodeLimitOf  map[PerNodeLimit]int
	PerNodeLimitsBy map[int][]int
	Idle            []bool // by limit, whether it cannot be exceeded; nil for none
	// excludedBins are, by target, the bins from which anti-affinity per host of running pods excludes it.
	excludedBins map[int]model.Bits
}

// RuleKey is equal for terms that are one rule: the term, and the axis of the nodes that it counts.
type RuleKey struct {
	Term   podspec.TopologyTerm
	Filter int
}

// NewRuleBook returns a book without rules.
func NewRuleBook(l *instance.LocationIndex) *RuleBook {
	return &RuleBook{
		Locations: l, RuleOf: map[RuleKey]int{}, ByTarget: map[int][]int{},
		perNodeLimitOf: map[PerNodeLimit]int{}, PerNodeLimitsBy: map[int][]int{}, excludedBins: map[int]model.Bits{},
	}
}

// Rule returns the number of the rule for a term of a group. It is added at the first call. podTerms are all terms of the
// pod, because a spread counts only nodes with the topology keys of all of them.
func (b *RuleBook) Rule(t podspec.TopologyTerm, group int, podTerms *podspec.TopologyTerms) int {
	filterAxis := -1
	if t.Kind == podspec.SpreadTerm {
		f := instance.Filter{Group: -1, HonorAffinity: t.HonorAffinity, HonorTaints: t.HonorTaints, Keys: strings.Join(podTerms.SpreadKeys(t.Weight == 0), ",")}
		if t.HonorAffinity || t.HonorTaints {
			f.Group = group
		}
		filterAxis = b.Locations.FilterAxis(f)
		t.HonorAffinity, t.HonorTaints = false, false // because they are part of the filter
	}
	key := RuleKey{Term: t, Filter: filterAxis}
	if n, ok := b.RuleOf[key]; ok {
		return n
	}
	n := len(b.Rules)
	axis := b.Locations.KeyAxis(t.Key)
	b.RuleOf[key] = n
	b.Rules = append(b.Rules, Rule{Term: t, Axis: axis, Filter: filterAxis, Domains: make([]topology.Domain, len(b.Locations.Axes[axis].Values))})
	b.ByTarget[t.Target] = append(b.ByTarget[t.Target], n)
	return n
}

// PerNodeLimit returns the number of the limit for a term per host. It is added at the first call. self says that the
// term selects the pods that have it: of these a node then holds one, and otherwise none beside them.
func (b *RuleBook) PerNodeLimit(t podspec.TopologyTerm, self bool) int {
	k := PerNodeLimit{kind: t.Kind, target: t.Target, Max: t.MaxSkew, Weight: t.Weight}
	if t.Kind == podspec.AntiAffinityTerm {
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

// Keep adds the required anti-affinity of running pods.
func (b *RuleBook) Keep() {
	for k, node := range b.Locations.RunningAntiAffinity() {
		if k.Term.PerHost() {
			b.keepOff(k.Term.Target, b.Locations.BinOf[node])
			continue
		}
		r := &b.Rules[b.Rule(k.Term, -1, nil)]
		if at := b.Locations.Axes[r.Axis].At[b.Locations.OnSale+node]; at >= 0 {
			r.Domains[at].Holders++
		}
	}
}

// keepOff excludes a target from a bin; -1 is no bin.
func (b *RuleBook) keepOff(target int, bin int32) {
	if bin < 0 {
		return
	}
	if b.excludedBins[target] == nil {
		b.excludedBins[target] = model.NewBits(len(b.Locations.In.Nodes))
	}
	b.excludedBins[target].Set(int(bin))
}

// Planned returns the rules as package topology takes them.
func (b *RuleBook) Planned() []topology.Rule {
	kinds := map[podspec.TopologyTermKind]topology.Kind{podspec.SpreadTerm: topology.Spread, podspec.AffinityTerm: topology.Affinity, podspec.AntiAffinityTerm: topology.Anti}
	out := make([]topology.Rule, len(b.Rules))
	for i := range b.Rules {
		r := &b.Rules[i]
		out[i] = topology.Rule{
			Kind: kinds[r.Term.Kind], Max: r.Term.MaxSkew, MinDomains: r.Term.MinDomains, Weight: r.Term.Weight,
			Domains: slices.Clone(r.Domains), Total: r.Total,
		}
	}
	return out
}

// PodCounts are numbers of pending pods: Held have a term, Counted are selected by it, both are in both.
type PodCounts struct {
	Held, Counted, both int64
}

// Add counts n pods: holds says that they have the term, counts that it selects them.
func (h *PodCounts) Add(holds, counts bool, n int64) {
	if holds {
		h.Held += n
	}
	if counts {
		h.Counted += n
	}
	if holds && counts {
		h.both += n
	}
}

// alone reports whether the only pod is one that selects itself.
func (h *PodCounts) alone() bool { return h.Held == 1 && h.Counted == 1 && h.both == 1 }

// Redundant reports whether a rule is satisfied wherever the pending pods go, as long as their nodes have the topology
// key: e.g. a spread of at most maxSkew pods, or anti-affinity to pods of which there are none.
func (r *Rule) Redundant(h *PodCounts) bool {
	if h.Held == 0 && r.Term.Kind != podspec.AntiAffinityTerm {
		return true
	}
	holders := int64(0)
	for _, d := range r.Domains {
		holders += d.Holders
	}
	switch r.Term.Kind {
	case podspec.SpreadTerm:
		return r.Total+h.Counted <= r.Term.MaxSkew
	case podspec.AffinityTerm:
		return r.Total == 0 && (h.alone() || r.Term.Weight > 0 && h.Counted == 0)
	default:
		return (h.Held == 0 || r.Total == 0) && (h.Counted == 0 || holders == 0) && (h.Held == 0 || h.Counted == 0 || h.alone())
	}
}

// vacuous reports whether a rule has no effect: it is loose, and every location has its label.
func (b *RuleBook) vacuous(n int) bool {
	r := &b.Rules[n]
	if !r.Loose || r.Term.Kind == podspec.AntiAffinityTerm {
		return r.Loose
	}
	a := b.Locations.Axes[r.Axis]
	return a.Flat && len(a.At) > 0 && a.At[0] == 0
}

// Count adds the running pods to the domains of rules, and returns by bin those that count for per-node limits. As in
// kube-scheduler, terminating pods do not count for spreads.
func (b *RuleBook) Count() [][]model.Presence {
	l := b.Locations
	present := make([][]model.Presence, len(l.In.Nodes))
	l.RunningSets(func(pod *corev1.Pod, node int, among []int32) {
		location, going := l.OnSale+node, pod.DeletionTimestamp != nil
		for _, target := range among {
			for _, n := range b.ByTarget[int(target)] {
				r := &b.Rules[n]
				at := l.Axes[r.Axis].At[location]
				if at < 0 || r.Term.Kind == podspec.SpreadTerm && (going || l.Axes[r.Filter].At[location] != 1) {
					continue
				}
				r.Domains[at].Count++
				r.Total++
			}
			bin := l.BinOf[node]
			for _, n := range b.PerNodeLimitsBy[int(target)] {
				if bin >= 0 && (!going || b.PerNodeLimits[n].kind != podspec.SpreadTerm) {
					present[bin] = counted(present[bin], int32(n))
				}
			}
		}
	})
	for i := range b.Rules {
		r := &b.Rules[i]
		if r.Term.Kind != podspec.SpreadTerm {
			continue
		}
		for n := range l.Places {
			if at := l.Axes[r.Axis].At[l.OnSale+n]; at >= 0 && l.Axes[r.Filter].At[l.OnSale+n] == 1 {
				r.Domains[at].Eligible = true
			}
		}
	}
	return present
}

// counted adds one pod of a limit to present, which is sorted by limit.
func counted(present []model.Presence, limit int32) []model.Presence {
	at, found := slices.BinarySearchFunc(present, limit, func(p model.Presence, limit int32) int { return cmp.Compare(p.Limit, limit) })
	if !found {
		present = slices.Insert(present, at, model.Presence{Limit: limit})
	}
	present[at].N++
	return present
}
