package scheduling

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// census counts the running pods that ties are about: by domain for rules, by bin for crowds. It
// is remembered from plan to plan while the same pods run. What it holds is not changed, and only
// grows.
type census struct {
	hosts   []*host
	counted map[censusKey][]int64         // by domain
	looked  map[[2]*axis][]bool           // by axis and filter: the domains with places that are looked at
	crowded map[string][]headcount        // by target and kind
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

func newCensus(hosts []*host) *census {
	return &census{
		hosts: hosts, counted: map[censusKey][]int64{}, looked: map[[2]*axis][]bool{},
		crowded: map[string][]headcount{}, present: map[string][][]model.Presence{},
	}
}

// census is that of those who run: the one that is remembered, or an empty one.
func (l *land) census() *census {
	if l.polled != nil {
		return l.polled
	}
	l.targetNames = make([]string, len(l.bonds.targets.list))
	if l.bonds.workloads != nil { // what a pod is among hangs on more than its labels
		for n := range l.targetNames {
			l.targetNames[n] = strconv.Itoa(n)
		}
		l.polled = newCensus(nil)
		return l.polled
	}
	for n, signature := range slices.Sorted(maps.Keys(l.bonds.targets.index)) {
		l.targetNames[n] = string(appendTargetKey(nil, signature, &l.bonds.targets.list[n]))
	}
	a := l.atlas
	if a.census == nil || a.census.size > mostCounted || !slices.Equal(a.census.hosts, l.cluster.hosts) {
		a.census = newCensus(l.cluster.hosts)
	}
	l.polled = a.census
	return l.polled
}

// crowdName names whom a crowd counts.
func (b *ruleBook) crowdName(k *crowd) string {
	name := b.land.targetNames[k.target]
	if k.kind == spreadTie {
		return "s" + name
	}
	return "a" + name
}

// censusKey is what decides how many pods a rule counts where.
func (b *ruleBook) censusKey(r *rule) censusKey {
	key := censusKey{target: b.land.targetNames[r.target], axis: b.land.axes[r.axis]}
	if r.kind == spreadTie {
		key.filter = b.land.axes[r.filter]
	}
	return key
}

// count notes what runs already: how many pods each rule counts in each domain, and
// each crowd on each bin.
func (b *ruleBook) count() [][]model.Presence {
	c := b.land.census()
	b.poll(c)
	for i := range b.rules {
		r := &b.rules[i]
		for at, n := range c.counted[b.censusKey(r)] {
			r.domains[at].Count += n
			r.total += n
		}
		if r.kind != spreadTie {
			continue
		}
		for at, looked := range b.land.looked(b.land.axes[r.axis], b.land.axes[r.filter]) {
			r.domains[at].Eligible = r.domains[at].Eligible || looked
		}
	}
	return b.presence(c)
}

// poll counts those of whom the census does not know yet how many they are.
func (b *ruleBook) poll(c *census) {
	type domains struct {
		censusKey
		count []int64
	}
	type bins struct {
		crowd
		counts map[int32]int64
	}
	rules, crowds := map[int][]domains{}, map[int][]*bins{} // by target
	for i := range b.rules {
		r := &b.rules[i]
		key := b.censusKey(r)
		if _, known := c.counted[key]; !known {
			list := make([]int64, len(key.axis.values))
			c.counted[key] = list
			c.size += len(list) + 1
			rules[r.target] = append(rules[r.target], domains{key, list})
		}
	}
	for i := range b.crowds {
		k := &b.crowds[i]
		if _, known := c.crowded[b.crowdName(k)]; !known {
			c.crowded[b.crowdName(k)] = nil
			crowds[k.target] = append(crowds[k.target], &bins{*k, map[int32]int64{}})
		}
	}
	if len(rules) == 0 && len(crowds) == 0 {
		return
	}
	l := b.land
	l.runningSets(func(pod *corev1.Pod, node int, among []int32) {
		for _, target := range among {
			for i := range rules[int(target)] {
				x := &rules[int(target)][i]
				at := x.axis.at[l.onSale+node]
				if at >= 0 && (x.filter == nil || pod.DeletionTimestamp == nil && x.filter.at[l.onSale+node] == 1) {
					x.count[at]++
				}
			}
			if bin := l.binOf[node]; bin >= 0 {
				for _, x := range crowds[int(target)] {
					if x.kind != spreadTie || pod.DeletionTimestamp == nil {
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
			c.crowded[b.crowdName(&x.crowd)] = list
			c.size += len(list) + 1
		}
	}
}

// presence is who is on each bin of the crowds.
func (b *ruleBook) presence(c *census) [][]model.Presence {
	var name []byte
	for i := range b.crowds {
		name = appendText(name, b.crowdName(&b.crowds[i]))
	}
	if known, ok := c.present[string(name)]; ok {
		return known
	}
	out := make([][]model.Presence, len(b.land.nodes))
	for i := range b.crowds {
		for _, x := range c.crowded[b.crowdName(&b.crowds[i])] {
			out[x.bin] = append(out[x.bin], model.Presence{Crowd: int32(i), N: x.n})
		}
	}
	c.present[string(name)] = out
	c.size += 3 * len(out)
	return out
}

// looked are the domains of an axis with places at which a filter looks.
func (l *land) looked(a, filter *axis) []bool {
	c := l.census()
	key := [2]*axis{a, filter}
	if out, ok := c.looked[key]; ok {
		return out
	}
	out := make([]bool, len(a.values))
	for n := range l.places {
		if at := a.at[l.onSale+n]; at >= 0 && filter.at[l.onSale+n] == 1 {
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
		crowded: maps.Clone(c.crowded), present: maps.Clone(c.present), size: c.size,
	}
}
