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

// census counts the running pods that ties are about: by domain for rules, by bin for crowds. It
// is remembered from plan to plan while the same pods run. What it holds is not changed, and only
// grows.
type census struct {
	hosts   []*Host
	counted map[censusKey][]int64         // by domain
	looked  map[[2]*axis][]bool           // by axis and filter: the domains with places that are looked at
	Crowded map[string][]headcount        // by target and kind
	present map[string][][]model.Presence // by crowds, by bin
	size    int
}

// censusKey is what decides how many pods a rule counts where.
type censusKey struct {
	target string
	// axis tells the domains. Where filter is set, pods that are going do not count, and those
	// where it is not 1.
	axis, filter *axis
}

// headcount is how many pods of a crowd are on a bin.
type headcount struct {
	bin int32
	n   int64
}

// mostCounted is how many numbers a census remembers from plan to plan.
const mostCounted = 1 << 18

func newCensus(hosts []*Host) *census {
	return &census{
		hosts: hosts, counted: map[censusKey][]int64{}, looked: map[[2]*axis][]bool{},
		Crowded: map[string][]headcount{}, present: map[string][][]model.Presence{},
	}
}

// Census is that of those who run: the one that is remembered, or an empty one.
func (l *Land) Census() *census {
	if l.polled != nil {
		return l.polled
	}
	l.targetNames = make([]string, len(l.Bonds.Targets.List))
	if l.Bonds.workloads != nil { // what a pod is among hangs on more than its labels
		for n := range l.targetNames {
			l.targetNames[n] = strconv.Itoa(n)
		}
		l.polled = newCensus(nil)
		return l.polled
	}
	for n, signature := range slices.Sorted(maps.Keys(l.Bonds.Targets.Index)) {
		l.targetNames[n] = string(appendTargetKey(nil, signature, &l.Bonds.Targets.List[n]))
	}
	a := l.Atlas
	if a.census == nil || a.census.size > mostCounted || !slices.Equal(a.census.hosts, l.Cluster.Hosts) {
		a.census = newCensus(l.Cluster.Hosts)
	}
	l.polled = a.census
	return l.polled
}

// CrowdName names whom a crowd counts.
func (b *RuleBook) CrowdName(k *Crowd) string {
	name := b.Land.targetNames[k.target]
	if k.kind == podspec.SpreadTie {
		return "s" + name
	}
	return "a" + name
}

// censusKey is what decides how many pods a rule counts where.
func (b *RuleBook) censusKey(r *Rule) censusKey {
	key := censusKey{target: b.Land.targetNames[r.Target], axis: b.Land.Axes[r.Axis]}
	if r.Kind == podspec.SpreadTie {
		key.filter = b.Land.Axes[r.Filter]
	}
	return key
}

// Count notes what runs already: how many pods each rule counts in each domain, and
// each crowd on each bin.
func (b *RuleBook) Count() [][]model.Presence {
	c := b.Land.Census()
	b.poll(c)
	for i := range b.Rules {
		r := &b.Rules[i]
		for at, n := range c.counted[b.censusKey(r)] {
			r.Domains[at].Count += n
			r.Total += n
		}
		if r.Kind != podspec.SpreadTie {
			continue
		}
		for at, looked := range b.Land.looked(b.Land.Axes[r.Axis], b.Land.Axes[r.Filter]) {
			r.Domains[at].Eligible = r.Domains[at].Eligible || looked
		}
	}
	return b.presence(c)
}

// poll counts those of whom the census does not know yet how many they are.
func (b *RuleBook) poll(c *census) {
	type domains struct {
		censusKey
		count []int64
	}
	type bins struct {
		Crowd
		counts map[int32]int64
	}
	rules, crowds := map[int][]domains{}, map[int][]*bins{} // by target
	for i := range b.Rules {
		r := &b.Rules[i]
		key := b.censusKey(r)
		if _, known := c.counted[key]; !known {
			list := make([]int64, len(key.axis.Values))
			c.counted[key] = list
			c.size += len(list) + 1
			rules[r.Target] = append(rules[r.Target], domains{key, list})
		}
	}
	for i := range b.Crowds {
		k := &b.Crowds[i]
		if _, known := c.Crowded[b.CrowdName(k)]; !known {
			c.Crowded[b.CrowdName(k)] = nil
			crowds[k.target] = append(crowds[k.target], &bins{*k, map[int32]int64{}})
		}
	}
	if len(rules) == 0 && len(crowds) == 0 {
		return
	}
	l := b.Land
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
			c.Crowded[b.CrowdName(&x.Crowd)] = list
			c.size += len(list) + 1
		}
	}
}

// presence is who is on each bin of the crowds.
func (b *RuleBook) presence(c *census) [][]model.Presence {
	var name []byte
	for i := range b.Crowds {
		name = podspec.AppendText(name, b.CrowdName(&b.Crowds[i]))
	}
	if known, ok := c.present[string(name)]; ok {
		return known
	}
	out := make([][]model.Presence, len(b.Land.Nodes))
	for i := range b.Crowds {
		for _, x := range c.Crowded[b.CrowdName(&b.Crowds[i])] {
			out[x.bin] = append(out[x.bin], model.Presence{Crowd: int32(i), N: x.n})
		}
	}
	c.present[string(name)] = out
	c.size += 3 * len(out)
	return out
}

// looked are the domains of an axis with places at which a filter looks.
func (l *Land) looked(a, filter *axis) []bool {
	c := l.Census()
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

// fork is a census that may grow without changing c.
func (c *census) fork() *census {
	if c == nil {
		return nil
	}
	return &census{
		hosts: c.hosts, counted: maps.Clone(c.counted), looked: maps.Clone(c.looked),
		Crowded: maps.Clone(c.Crowded), present: maps.Clone(c.present), size: c.size,
	}
}
