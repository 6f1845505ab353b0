package scheduling

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// shifts lists the moves of one unit of a class: away from its site, and away from what
// is one domain to a spread that it holds.
func (s *seeker) shifts(class int) []move {
	c, counts := &s.planner.Classes[class], s.counts[class]
	var out []move
	for site, n := range counts {
		if n > 1 {
			out = append(out, move{classes: []int{class}, limit: func(_, at int) int64 {
				if at == site {
					return n - 1
				}
				return -1
			}})
		}
	}
	for k, link := range c.Links {
		if s.planner.Rules[link.Rule].Kind != topology.Spread || !link.Holds {
			continue
		}
		for d := range s.planner.Rules[link.Rule].Domains {
			in := func(site int) bool { return int(c.Sites[site].Domains[k]) == d }
			most, sites := -1, 0
			for site, n := range counts {
				if !in(site) {
					continue
				}
				if sites++; n > 0 && (most < 0 || n > counts[most]) {
					most = site
				}
			}
			if most < 0 || sites == 1 {
				continue
			}
			out = append(out, move{classes: []int{class}, limit: func(_, at int) int64 {
				switch {
				case at == most:
					return counts[at] - 1
				case in(at):
					return counts[at]
				}
				return -1
			}})
		}
	}
	return out
}
