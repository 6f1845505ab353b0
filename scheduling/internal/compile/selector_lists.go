package compile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// selectorLists remembers of each target by itself which running pods are among it. So ties of other
// pods than those of the plan before are told of those who run without asking all of them again.
// Lists are replaced, never changed.
type selectorLists struct {
	hosts []*Host
	lists map[string]selectorList // by what the target is, see appendTargetKey
	stays int                     // in all lists
}

// selectorList is who is among a target.
type selectorList struct {
	target podspec.Target
	stays  []stay
	idle   int // changes of hosts since somebody asked
}

// stay is a running pod: its place among those of a host.
type stay struct{ host, place int32 }

const (
	// mostStays and mostGuestLists bound how much is remembered, guestsIdle is how many changes
	// of hosts a list outlives that nobody asks for.
	mostStays, mostGuestLists, guestsIdle = 1 << 20, 1 << 12, 8
)

// fork returns a memory of its own that remembers the same.
func (m *selectorLists) fork() *selectorLists {
	if m == nil {
		return nil
	}
	return &selectorLists{hosts: m.hosts, lists: maps.Clone(m.lists), stays: m.stays}
}

// gather reads the book from what is remembered of each target, asking pods only about targets
// of which nothing is.
func (g *selectorIndex) gather(c *Compiler) {
	m := c.Memory.guestLists
	switch {
	case m == nil:
		m = &selectorLists{hosts: g.hosts, lists: map[string]selectorList{}}
	case !slices.Equal(m.hosts, g.hosts):
		m = m.renewed(c, g.hosts)
	}
	c.Memory.guestLists = m
	keys, missing := make([]string, len(g.targets.List)), map[string]selectorList{}
	for n, signature := range slices.Sorted(maps.Keys(g.targets.Index)) {
		keys[n] = string(appendTargetKey(nil, signature, &g.targets.List[n]))
		if list, known := m.lists[keys[n]]; !known {
			missing[keys[n]] = selectorList{target: g.targets.List[n]}
		} else if list.idle > 0 {
			list.idle = 0
			m.lists[keys[n]] = list
		}
	}
	if len(missing) > 0 {
		every := make([]int, len(g.hosts))
		for i := range every {
			every[i] = i
		}
		c.ask(g.hosts, every, missing)
	}
	type visit struct {
		stay
		target int32
	}
	var all []visit
	for n, key := range keys {
		list, fresh := missing[key]
		if !fresh {
			list = m.lists[key]
		}
		for _, s := range list.stays {
			all = append(all, visit{s, int32(n)})
		}
	}
	for key, list := range missing {
		m.stays += len(list.stays)
		m.lists[key] = list
	}
	if m.stays > mostStays || len(m.lists) > mostGuestLists {
		clear(m.lists)
		m.stays = 0
	}
	slices.SortFunc(all, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.place, b.place), cmp.Compare(a.target, b.target))
	})
	g.selectorIndex = make([][]guest, len(g.hosts))
	numbers := make([]int32, len(all))
	for i, v := range all {
		numbers[i] = v.target
	}
	for from, to := 0, 0; from < len(all); from = to {
		for to < len(all) && all[to].stay == all[from].stay {
			to++
		}
		at := all[from].stay
		if g.selectorIndex[at.host] == nil {
			g.booked = append(g.booked, int(at.host))
		}
		g.selectorIndex[at.host] = append(g.selectorIndex[at.host], guest{g.hosts[at.host].Pods[at.place], numbers[from:to:to]})
	}
}

// renewed is what is known of other hosts, most of which are the same.
func (m *selectorLists) renewed(c *Compiler, hosts []*Host) *selectorLists {
	out := &selectorLists{hosts: hosts, lists: map[string]selectorList{}}
	number := numbersIn(hosts, m.hosts, func(a, b *Host) int { return cmp.Compare(a.Name, b.Name) })
	fresh := unnumbered(number, len(hosts))
	asked := map[string]selectorList{}
	for key, list := range m.lists {
		if list.idle++; list.idle > guestsIdle {
			continue
		}
		known := list.stays
		list.stays = make([]stay, 0, len(known))
		for _, s := range known {
			if n := number[s.host]; n >= 0 {
				list.stays = append(list.stays, stay{n, s.place})
			}
		}
		asked[key] = list
	}
	c.ask(hosts, fresh, asked)
	for key, list := range asked {
		out.lists[key] = list
		out.stays += len(list.stays)
	}
	return out
}

// ask adds to lists which pods on some hosts are among their targets.
func (c *Compiler) ask(hosts []*Host, some []int, lists map[string]selectorList) {
	t, names := podspec.NewTargets(), slices.Sorted(maps.Keys(lists))
	for _, name := range names {
		t.Add(name, func() podspec.Target { return lists[name].target })
	}
	found := make([][]stay, len(names))
	for _, i := range some {
		for place, pod := range hosts[i].Pods {
			for _, n := range t.Sets[t.Matched(podspec.NamespaceOf(pod), labelsOf(c.TopologyTerms, pod))] {
				found[n] = append(found[n], stay{int32(i), int32(place)})
			}
		}
	}
	for n, key := range names {
		list := lists[key]
		list.stays = append(list.stays, found[n]...)
		lists[key] = list
	}
}
