package topology

import "testing"

// grid makes sites in two zones with two capacity types each: spot, which costs 2, and
// on demand, which costs 5. Links to rules of odd number are over the capacity type,
// the others over the zone.
func grid(n int64, links ...Link) Class {
	c := Class{Count: n, Request: []int64{1}, Links: links}
	for s := range 4 {
		site := Site{Cost: []int64{2, 5}[s%2], Limit: -1}
		for _, link := range links {
			site.Domains = append(site.Domains, []int32{int32(s / 2), int32(s % 2)}[link.Rule%2])
			site.Counted = append(site.Counted, true)
		}
		c.Sites = append(c.Sites, site)
	}
	return c
}

// TestPlanCombined is about several kinds of rules at once (P113, P116).
func TestPlanCombined(t *testing.T) {
	check(t, []planCase{
		{
			name: "caches keep apart, their clients follow them and spread",
			p: problem([]Rule{anti(3), spread(1, 3), affinity(3)},
				class(7, 3, self(1), holds(2)), class(3, 3, self(0), seen(2))),
			want: [][]int64{{3, 2, 2}, {1, 1, 1}},
		},
		{
			name: "fewer caches than zones: clients spread as far as the empty zone allows",
			p: problem([]Rule{anti(3), spread(1, 3), affinity(3)},
				class(7, 3, self(1), holds(2)), class(2, 3, self(0), seen(2)).costs(1, 1, 9)),
			want: [][]int64{{1, 1, 0}, {1, 1, 0}},
		},
		{
			name: "a zone closed by anti-affinity still counts for the spread",
			p: problem([]Rule{spread(1, 3), anti(3).running(1, 0, 0)},
				class(6, 3, self(0), holds(1))),
			want: [][]int64{{0, 1, 1}},
		},
		{
			name: "and does not when the pod's own selector leaves it out (P108)",
			p: problem([]Rule{spread(1, 3), anti(3).running(1, 0, 0)},
				class(6, 3, self(0), holds(1)).at(1, 2)),
			want: [][]int64{{3, 3}},
		},
		{
			name: "affinity to one zone, spread over all",
			p: problem([]Rule{spread(2, 3), affinity(3).running(0, 1, 0)},
				class(5, 3, self(0), holds(1))),
			want: [][]int64{{0, 2, 0}},
		},
		{
			name: "zones and capacity types, each even (P113)",
			p:    problem([]Rule{spread(1, 2), spread(1, 2)}, grid(6, self(0), self(1))),
			want: [][]int64{{3, 0, 0, 3}},
		},
		{
			name: "zones even, capacity types as cheap as the skew allows",
			p:    problem([]Rule{spread(1, 2), spread(4, 2)}, grid(6, self(0), self(1))),
			want: [][]int64{{2, 1, 3, 0}},
		},
		{
			name: "one to each zone, and evenly by capacity type",
			p:    problem([]Rule{anti(2), spread(1, 2)}, grid(2, self(0), self(1))),
			want: [][]int64{{1, 0, 0, 1}},
		},
		{
			name: "gathered in one zone, evenly by capacity type",
			p:    problem([]Rule{affinity(2), spread(1, 2)}, grid(4, self(0), self(1))),
			want: [][]int64{{2, 2, 0, 0}},
		},
		{
			name: "zone spread with minDomains, affinity and a preference at once",
			p: problem([]Rule{spread(1, 3).least(3), affinity(3), anti(3).preference(4)},
				class(6, 3, self(0), holds(1)), class(3, 3, seen(1), self(2))),
			want: [][]int64{{2, 2, 2}, {1, 1, 1}},
		},
		{
			name: "four kinds of rules on one class",
			p: problem([]Rule{spread(1, 2), spread(1, 2), affinity(2).running(1, 1), anti(2).running(0, 1)},
				grid(4, self(0), self(1), holds(2), holds(3))),
			// Rule 3 is over the capacity type: no pod may go on demand, where a counted
			// pod runs, and so the spread over capacity types admits one pod in all. The
			// zone of that pod is closed by the spread over zones.
			want: [][]int64{{1, 0, 0, 0}},
		},
		{
			name: "skew that exists, joined by anti-affinity of pods that run (P112, P127)",
			p: problem([]Rule{spread(1, 3).running(3, 1, 1), anti(3).holders(0, 1, 0)},
				class(4, 3, self(0), seen(1))),
			want: [][]int64{{0, 0, 1}},
		},
		{
			name: "the urgent class takes the cheap zone, the other makes up for it",
			p: problem([]Rule{spread(1, 2)},
				class(3, 2, self(0)).costs(1, 2), class(3, 2, self(0)).costs(1, 2).priority(1)),
			want: [][]int64{{1, 2}, {2, 1}},
		},
		{
			name: "machines that run draw pods as far as the rules allow",
			p: &Problem{
				Dims: 1, Bins: [][]int64{{8}}, Rules: []Rule{spread(2, 2), anti(2)},
				Classes: []Class{
					class(6, 2, self(0)).costs(1, 1).bins(nil, []int32{0}),
					class(3, 2, holds(1)).bins(nil, []int32{0}), class(1, 2, seen(1)).at(1),
				},
			},
			want: [][]int64{{2, 4}, {3, 0}, {1}},
		},
	})
}
