package compile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// TopologyCounts counts the running pods that ties are about: by domain for rules, by bin for per-node limits. It
// is remembered from plan to plan while the same pods run. What it holds is not changed, and only
// grows.
type TopologyCounts struct {
	hosts   []*Host
	counted map[countsKey][]int64         // by domain
	looked  map[[2]*axis][]bool           // by axis and filter: the domains with places that are looked at
	Crowded map[string][]headcount        // by target and kind
	present map[string][][]model.Presence // by per-node limits, by bin
	size    int
}

// countsKey is what decides how many pods a rule counts where.
type countsKey struct {
	target string
	// axis tells the domains. Where filter is set, pods that are going do not count, and those
	// where it is not 1.
	axis, filter *axis
}

// headcount is how many pods of a per-node limit are on a bin.
type headcount struct {
	bin int32
	n   int64
}

// mostCounted is how many numbers a topology counts remembers from plan to plan.
const mostCounted = 1 << 18

func newTopologyCounts(hosts []*Host) *TopologyCounts {
	return &TopologyCounts{
		hosts: hosts, counted: map[countsKey][]int64{}, looked: map[[2]*axis][]bool{},
		Crowded: map[string][]headcount{}, present: map[string][][]model.Presence{},
	}
}

// TopologyCounts is that of those who run: the one that is remembered, or an empty one.
func (l *LocationIndex) TopologyCounts() *TopologyCounts {
	if l.polled != nil {
		return l.polled
	}
	l.targetNames = make([]string, len(l.TopologyTerms.Targets.List))
	if l.TopologyTerms.workloads != nil { // what a pod is among hangs on more than its labels
		for n := range l.targetNames {
			l.targetNames[n] = strconv.Itoa(n)
		}
		l.polled = newTopologyCounts(nil)
		return l.polled
	}
	for n, signature := range slices.Sorted(maps.Keys(l.TopologyTerms.Targets.Index)) {
		l.targetNames[n] = string(appendTargetKey(nil, signature, &l.TopologyTerms.Targets.List[n]))
	}
	a := l.LocationCache
	if a.topologyCounts == nil || a.topologyCounts.size > mostCounted || !slices.Equal(a.topologyCounts.hosts, l.Cluster.Hosts) {
		a.topologyCounts = newTopologyCounts(l.Cluster.Hosts)
	}
	l.polled = a.topologyCounts
	return l.polled
}

// PerNodeLimitName names whom a per-node limit counts.
func (b *RuleBook) PerNodeLimitName(k *PerNodeLimit) string {
	name := b.Locations.targetNames[k.target]
	if k.kind == podspec.SpreadTie {
		return "s" + name
	}
	return "a" + name
}

// countsKey is what decides how many pods a rule counts where.
func (b *RuleBook) countsKey(r *Rule) countsKey {
	key := countsKey{target: b.Locations.targetNames[r.Target], axis: b.Locations.Axes[r.Axis]}
	if r.Kind == podspec.SpreadTie {
		key.filter = b.Locations.Axes[r.Filter]
	}
	return key
}

// Count notes what runs already: how many pods each rule counts in each domain, and
// each per-node limit on each bin.
func (b *RuleBook) Count() [][]model.Presence {
	c := b.Locations.TopologyCounts()
	b.poll(c)
	for i := range b.Rules {
		r := &b.Rules[i]
		for at, n := range c.counted[b.countsKey(r)] {
			r.Domains[at].Count += n
			r.Total += n
		}
		if r.Kind != podspec.SpreadTie {
			continue
		}
		for at, looked := range b.Locations.looked(b.Locations.Axes[r.Axis], b.Locations.Axes[r.Filter]) {
			r.Domains[at].Eligible = r.Domains[at].Eligible || looked
		}
	}
	return b.presence(c)
}

// poll counts those of whom the topology counts does not know yet how many they are.
func (b *RuleBook) poll(c *TopologyCounts) {
	type domains struct {
		countsKey
		count []int64
	}
	type bins struct {
		PerNodeLimit
		counts map[int32]int64
	}
	rules, crowds := map[int][]domains{}, map[int][]*bins{} // by target
	for i := range b.Rules {
		r := &b.Rules[i]
		key := b.countsKey(r)
		if _, known := c.counted[key]; !known {
			list := make([]int64, len(key.axis.Values))
			c.counted[key] = list
			c.size += len(list) + 1
			rules[r.Target] = append(rules[r.Target], domains{key, list})
		}
	}
	for i := range b.PerNodeLimits {
		k := &b.PerNodeLimits[i]
		if _, known := c.Crowded[b.PerNodeLimitName(k)]; !known {
			c.Crowded[b.PerNodeLimitName(k)] = nil
			crowds[k.target] = append(crowds[k.target], &bins{*k, map[int32]int64{}})
		}
	}
	if len(rules) == 0 && len(crowds) == 0 {
		return
	}
	l := b.Locations
	l.RunningSets(func(pod *corev1.Pod, node int, among []int32) {
		for _, target := range among {
			for i := range rules[int(target)] {
				x := &rules[int(target)][i]
				at := x.axis.At[l.OnSale+node]
				if at >= 0 && (x.filter == nil || pod.DeletionTimestamp == nil && x.filter.At[l.OnSale+node] == 1) {
					x.count[at]++
				}
			}
			if bin := l.BinOf[node]; bin >= 0 {
				for _, x := range crowds[int(target)] {
					if x.kind != podspec.SpreadTie || pod.DeletionTimestamp == nil {
						x.counts[bin]++
					}
				}
			}
		}
	})
	for _, target := range slices.Sorted(maps.Keys(crowds)) {
		for _, x := range crowds[target] {
			list := make([]headcount, 0, len(x.counts))
			for bin, n := range x.counts {
				list = append(list, headcount{bin, n})
			}
			slices.SortFunc(list, func(a, b headcount) int { return cmp.Compare(a.bin, b.bin) })
			c.Crowded[b.PerNodeLimitName(&x.PerNodeLimit)] = list
			c.size += len(list) + 1
		}
	}
}

// presence is who is on each bin of the per-node limits.
func (b *RuleBook) presence(c *TopologyCounts) [][]model.Presence {
	var name []byte
	for i := range b.PerNodeLimits {
		name = podspec.AppendText(name, b.PerNodeLimitName(&b.PerNodeLimits[i]))
	}
	if known, ok := c.present[string(name)]; ok {
		return known
	}
	out := make([][]model.Presence, len(b.Locations.Nodes))
	for i := range b.PerNodeLimits {
		for _, x := range c.Crowded[b.PerNodeLimitName(&b.PerNodeLimits[i])] {
			out[x.bin] = append(out[x.bin], model.Presence{Crowd: int32(i), N: x.n})
		}
	}
	c.present[string(name)] = out
	c.size += 3 * len(out)
	return out
}

// looked are the domains of an axis with places at which a filter looks.
func (l *LocationIndex) looked(a, filter *axis) []bool {
	c := l.TopologyCounts()
	key := [2]*axis{a, filter}
	if out, ok := c.looked[key]; ok {
		return out
	}
	out := make([]bool, len(a.Values))
	for n := range l.Places {
		if at := a.At[l.OnSale+n]; at >= 0 && filter.At[l.OnSale+n] == 1 {
			out[at] = true
		}
	}
	c.looked[key] = out
	c.size += len(out) + 1
	return out
}

// fork is a topology counts that may grow without changing c.
func (c *TopologyCounts) fork() *TopologyCounts {
	if c == nil {
		return nil
	}
	return &TopologyCounts{
		hosts: c.hosts, counted: maps.Clone(c.counted), looked: maps.Clone(c.looked),
		Crowded: maps.Clone(c.Crowded), present: maps.Clone(c.present), size: c.size,
	}
}
