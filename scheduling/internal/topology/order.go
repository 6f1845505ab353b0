package topology

import (
	"cmp"
	"slices"
)

// choosingOrder is the order in which classes choose: by priority, then those that hold no rule
// but are counted by some, so that the others see these counts. Among
// the others, those go first to which fewer affinities lead one after the other, then
// those with fewer sites, more rules and larger requests.
func choosingOrder(t *tables) []int32 {
	type traits struct {
		priority     int32
		holds, sites int
		depth        int
		size         int64
	}
	depth := depths(t)
	all := make([]traits, len(t.p.Classes))
	order := make([]int32, len(t.p.Classes))
	for c := range t.p.Classes {
		class := &t.p.Classes[c]
		order[c] = int32(c)
		tr := traits{priority: class.Priority, depth: depth[c]}
		for _, link := range class.Links {
			if link.Holds && t.exists(link.Rule) && t.p.Rules[link.Rule].Weight <= 0 {
				tr.holds++
			}
		}
		for i := range class.Sites {
			if class.Sites[i].usable() {
				tr.sites++
			}
		}
		if len(class.Request) > 0 {
			tr.size = class.Request[0]
		}
		all[c] = tr
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &all[a], &all[b]
		free := func(x *traits) int { return min(x.holds, 1) }
		return cmp.Or(
			cmp.Compare(y.priority, x.priority),
			cmp.Compare(free(x), free(y)),
			cmp.Compare(x.depth, y.depth),
			cmp.Compare(x.sites, y.sites),
			cmp.Compare(y.holds, x.holds),
			cmp.Compare(y.size, x.size),
		)
	})
	return order
}

// deepest bounds how many affinities in a row are looked at.
const deepest = 8

// depths says, by class, how long a chain of affinities leads to its pods: those that
// hold none are at 0, those that follow these at 1. Pods that hold the same affinity
// do not follow each other.
func depths(t *tables) []int {
	depth := make([]int, len(t.p.Classes))
	for again, round := true, 0; again && round < deepest; round++ {
		again = false
		for rule := range t.p.Rules {
			if t.p.Rules[rule].Kind != Affinity || t.p.Rules[rule].Weight > 0 {
				continue
			}
			level := 1
			for _, m := range t.members[rule] {
				if e := t.termOf(m); e != nil && e.self && !e.holds {
					level = max(level, depth[m.class]+1)
				}
			}
			for _, m := range t.members[rule] {
				if e := t.termOf(m); e != nil && e.holds && depth[m.class] < level {
					depth[m.class], again = level, true
				}
			}
		}
	}
	return depth
}
