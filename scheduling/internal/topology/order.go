package topology

import (
	"cmp"
	"slices"
)

// order is the order in which classes choose: by priority, then those that hold no rule
// but are counted by some, so that the others see what they will be counted with. Among
// the others, those with fewer sites, more rules and larger requests go first.
func (s *planner) order() []int32 {
	type traits struct {
		priority     int32
		holds, sites int
		size         int64
	}
	all := make([]traits, len(s.p.Classes))
	order := make([]int32, len(s.p.Classes))
	for c := range s.p.Classes {
		class := &s.p.Classes[c]
		order[c] = int32(c)
		tr := traits{priority: class.Priority}
		for _, link := range class.Links {
			if link.Holds && s.exists(link.Rule) && s.p.Rules[link.Rule].Weight <= 0 {
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
		free := func(t *traits) int { return min(t.holds, 1) }
		return cmp.Or(
			cmp.Compare(y.priority, x.priority),
			cmp.Compare(free(x), free(y)),
			cmp.Compare(x.sites, y.sites),
			cmp.Compare(y.holds, x.holds),
			cmp.Compare(y.size, x.size),
		)
	})
	return order
}
