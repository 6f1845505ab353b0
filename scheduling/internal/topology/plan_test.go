package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// planCase is a problem and where its pods have to go.
type planCase struct {
	name string
	p    *Problem
	want [][]int64
}

func check(t *testing.T, cases []planCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Plan(c.p)
			assert.Equal(t, c.want, got.Counts)
			assert.Equal(t, c.want, Replay(c.p, got.Counts, nil), "binds")
			assert.Equal(t, c.want, Replay(c.p, got.Counts, reachable(c.p)), "binds with empty domains")
			for k := range c.p.Classes {
				placed := int64(0)
				for _, n := range c.want[k] {
					placed += n
				}
				assert.Equal(t, c.p.Classes[k].Count-placed, got.Unplaced[k])
			}
		})
	}
}

func TestPlanSpread(t *testing.T) {
	two := spread(1, 2)
	joint := class(4, 4, self(0), self(1))
	for s := range joint.Sites { // two zones with two capacity types each
		joint.Sites[s].Domains = []int32{int32(s / 2), int32(s % 2)}
	}
	keyless := class(4, 3, self(0))
	keyless.Sites[0].Domains[0] = None
	keyless.Sites[0].Cost = 1
	uncounted := class(3, 2, self(0))
	uncounted.Sites[0].Counted[0] = false

	check(t, []planCase{
		{
			name: "round robin at equal costs (P107)",
			p:    problem([]Rule{spread(1, 3)}, class(7, 3, self(0))),
			want: [][]int64{{3, 2, 2}},
		},
		{
			name: "cheapest within the skew, maxSkew 2 (P107)",
			p:    problem([]Rule{spread(2, 3)}, class(5, 3, self(0)).costs(1, 2, 3)),
			want: [][]int64{{2, 2, 1}},
		},
		{
			name: "only zones that the pod may use count (P108)",
			p:    problem([]Rule{spread(1, 3)}, class(4, 3, self(0)).at(0, 2)),
			want: [][]int64{{2, 2}},
		},
		{
			name: "pods that run count, also where the pod may not go (P106)",
			p:    problem([]Rule{spread(1, 3).running(1, 0, 2)}, class(4, 3, self(0)).at(0, 1)),
			want: [][]int64{{2, 2}},
		},
		{
			name: "only least domains once the skew is violated (P112)",
			p:    problem([]Rule{spread(1, 3).running(4, 0, 1)}, class(3, 3, self(0)).costs(1, 5, 5)),
			want: [][]int64{{0, 2, 1}},
		},
		{
			name: "another domain than the least up to the skew (P112)",
			p:    problem([]Rule{spread(2, 2).running(0, 0)}, class(5, 2, self(0)).at(1)),
			want: [][]int64{{2}},
		},
		{
			name: "a domain that exists but takes no pod holds back",
			p:    problem([]Rule{spread(1, 3).running(0, 0, 0)}, class(6, 3, self(0)).costs(10, 10, Nowhere)),
			want: [][]int64{{1, 1, 0}},
		},
		{
			name: "minDomains above the domains: the least is 0 (P110)",
			p:    problem([]Rule{spread(1, 3).least(3)}, class(5, 3, self(0)).at(0, 1)),
			want: [][]int64{{1, 1}},
		},
		{
			name: "minDomains met (P110)",
			p:    problem([]Rule{spread(1, 3).least(3)}, class(5, 3, self(0))),
			want: [][]int64{{2, 2, 1}},
		},
		{
			name: "minDomains met by nodes that run (P110)",
			p:    problem([]Rule{spread(1, 3).least(3).running(0, 0, 4)}, class(8, 3, self(0)).at(0, 1)),
			want: [][]int64{{4, 4}},
		},
		{
			name: "zone and capacity type together (P113)",
			p:    problem([]Rule{two, two}, joint),
			want: [][]int64{{2, 0, 0, 2}},
		},
		{
			name: "a node without the key takes none, however cheap",
			p:    problem([]Rule{spread(1, 3)}, keyless),
			want: [][]int64{{0, 2, 2}},
		},
		{
			name: "pods do not count where node policies exclude them",
			p:    problem([]Rule{spread(1, 2)}, uncounted),
			want: [][]int64{{3, 0}},
		},
		{
			name: "a pod that its own selector passes over (P107)",
			p:    problem([]Rule{spread(1, 3).running(2, 0, 1)}, class(4, 3, holds(0)).costs(1, 7, 5)),
			want: [][]int64{{0, 0, 4}},
		},
		{
			name: "several units for each pod",
			p:    problem([]Rule{spread(3, 2)}, class(5, 2, Link{Rule: 0, Holds: true, Counts: 3})),
			want: [][]int64{{3, 2}},
		},
		{
			name: "merely counted pods stay together, the others make up for it",
			p:    problem([]Rule{spread(1, 3)}, class(4, 3, self(0)), class(3, 3, seen(0)).costs(2, 1, 3)),
			want: [][]int64{{2, 0, 2}, {0, 3, 0}},
		},
	})
}

// TestPlanInterdependent is about pods that hold one spread and count for another.
func TestPlanInterdependent(t *testing.T) {
	p := problem([]Rule{spread(1, 2), spread(1, 2)},
		class(3, 2, holds(0), seen(1)), class(4, 2, holds(1), seen(0)))
	got := Plan(p)
	assert.Equal(t, []int64{0, 0}, got.Unplaced, "P116")
	assert.True(t, binds(p, got.Counts, reachable(p)))
}

func TestPlanAffinity(t *testing.T) {
	check(t, []planCase{
		{
			name: "where counted pods run (P118)",
			p:    problem([]Rule{affinity(3).running(0, 2, 0)}, class(3, 3, holds(0)).costs(1, 9, 1)),
			want: [][]int64{{0, 3, 0}},
		},
		{
			name: "the cheapest of several such domains (P118)",
			p:    problem([]Rule{affinity(3).running(1, 2, 0)}, class(3, 3, holds(0)).costs(4, 3, 1)),
			want: [][]int64{{0, 3, 0}},
		},
		{
			name: "the first of its kind opens a domain (P119)",
			p:    problem([]Rule{affinity(3)}, class(5, 3, self(0)).costs(3, 2, 4)),
			want: [][]int64{{0, 5, 0}},
		},
		{
			name: "one domain only, the others stay pending (P120)",
			p:    problem([]Rule{affinity(2)}, class(10, 2, self(0)).limits(3, 5)),
			want: [][]int64{{0, 5}},
		},
		{
			name: "the domain with room for all, though another is cheaper",
			p: &Problem{
				Dims: 1, Rules: []Rule{affinity(2)}, Bins: [][]int64{{1}},
				Classes: []Class{class(4, 2, self(0)).costs(9, 5).bins([]int32{0})},
			},
			want: [][]int64{{0, 4}},
		},
		{
			name: "the domain with room for all classes of the kind",
			p: problem([]Rule{affinity(2)},
				class(2, 2, self(0)).costs(1, 8), class(6, 2, self(0)).limits(1, -1)),
			want: [][]int64{{0, 2}, {0, 6}},
		},
		{
			name: "no counted pod anywhere (P121)",
			p:    problem([]Rule{affinity(2)}, class(2, 2, holds(0))),
			want: [][]int64{{0, 0}},
		},
		{
			name: "counted pods run where none can go: no new domain",
			p:    problem([]Rule{affinity(3).running(0, 0, 1)}, class(2, 3, self(0)).at(0, 1)),
			want: [][]int64{{0, 0}},
		},
		{
			name: "the target of the same plan (P122)",
			p:    problem([]Rule{affinity(3)}, class(3, 3, holds(0)), class(1, 3, seen(0)).costs(3, 2, 1)),
			want: [][]int64{{0, 0, 3}, {0, 0, 1}},
		},
		{
			name: "the target goes where its followers can (P122)",
			p:    problem([]Rule{affinity(3)}, class(3, 3, holds(0)).at(1), class(2, 3, seen(0)).costs(1, 9, 9)),
			want: [][]int64{{3}, {1, 1, 0}},
		},
		{
			name: "the target goes where its followers are cheap",
			p:    problem([]Rule{affinity(2)}, class(9, 2, holds(0)).costs(9, 1), class(1, 2, seen(0)).costs(1, 2)),
			want: [][]int64{{0, 9}, {0, 1}},
		},
		{
			name: "a chain, whatever its order (P118)",
			p: problem([]Rule{affinity(2), affinity(2), affinity(2)},
				class(1, 2, holds(2)), class(1, 2, holds(1), seen(2)), class(1, 2, holds(0), seen(1)),
				class(1, 2, seen(0)).costs(2, 1)),
			want: [][]int64{{0, 1}, {0, 1}, {0, 1}, {0, 1}},
		},
		{
			name: "kinds that do not select each other open two domains (P123)",
			p: problem([]Rule{affinity(2), affinity(2)},
				class(2, 2, self(0)).costs(1, 2), class(2, 2, self(1)).costs(2, 1)),
			want: [][]int64{{2, 0}, {0, 2}},
		},
		{
			name: "two affinities of one pod: both have to be new",
			p:    problem([]Rule{affinity(2), affinity(2).running(0, 1)}, class(2, 2, self(0), self(1))),
			want: [][]int64{{0, 0}},
		},
		{
			name: "two affinities of one pod, both new",
			p:    problem([]Rule{affinity(2), affinity(2)}, class(2, 2, self(0), self(1)).costs(2, 1)),
			want: [][]int64{{0, 2}},
		},
	})
}

func TestPlanAnti(t *testing.T) {
	keyless := class(4, 3, self(0)).costs(1, 1, 5)
	keyless.Sites[2].Domains[0] = None
	check(t, []planCase{
		{
			name: "one pod to each zone, in one plan (P124, P126)",
			p:    problem([]Rule{anti(3)}, class(5, 3, self(0))),
			want: [][]int64{{1, 1, 1}},
		},
		{
			name: "not where counted pods run (P124)",
			p:    problem([]Rule{anti(3).running(1, 0, 1)}, class(3, 3, holds(0)).costs(1, 9, 1)),
			want: [][]int64{{0, 3, 0}},
		},
		{
			name: "not where pods run that keep it away (P127)",
			p:    problem([]Rule{anti(2).holders(1, 0)}, class(2, 2, seen(0)).costs(1, 9)),
			want: [][]int64{{0, 2}},
		},
		{
			name: "pods that keep others away come after these (P127)",
			p:    problem([]Rule{anti(2)}, class(2, 2, holds(0)).costs(1, 9), class(2, 2, seen(0)).costs(1, 9)),
			want: [][]int64{{0, 2}, {2, 0}},
		},
		{
			name: "they share what is left, whoever is more urgent (P127)",
			p: problem([]Rule{anti(2)},
				class(2, 2, holds(0)).costs(1, 9).priority(1), class(2, 2, seen(0)).at(0)),
			want: [][]int64{{0, 2}, {2}},
		},
		{
			name: "counted pods make way for one that keeps away from them",
			p: problem([]Rule{anti(2)},
				class(1, 2, holds(0)), class(1, 2, seen(0)).costs(1, 2), class(1, 2, seen(0)).costs(2, 1)),
			want: [][]int64{{1, 0}, {0, 1}, {0, 1}},
		},
		{
			name: "nodes without the key are free",
			p:    problem([]Rule{anti(3)}, keyless),
			want: [][]int64{{1, 1, 2}},
		},
		{
			name: "the class with the fewest zones goes first",
			p:    problem([]Rule{anti(3)}, class(2, 3, self(0)), class(1, 3, self(0)).at(0)),
			want: [][]int64{{0, 1, 1}, {1}},
		},
		{
			name: "priority goes before that",
			p: problem([]Rule{anti(2)},
				class(2, 2, self(0)).priority(5), class(1, 2, self(0)).at(0)),
			want: [][]int64{{1, 1}, {0}},
		},
	})
}

func TestPlanWishes(t *testing.T) {
	check(t, []planCase{
		{
			name: "a spread that may be broken is kept while it can (P114)",
			p:    problem([]Rule{spread(1, 2).preference(1)}, class(4, 2, self(0)).costs(1, 9)),
			want: [][]int64{{2, 2}},
		},
		{
			name: "and broken when there is no room (P114)",
			p:    problem([]Rule{spread(1, 2).preference(1)}, class(5, 2, self(0)).limits(-1, 1)),
			want: [][]int64{{4, 1}},
		},
		{
			name: "a preference that costs more than it is worth is broken",
			p: &Problem{Dims: 1, Priced: true, Rules: []Rule{spread(1, 2).preference(3)}, Classes: []Class{
				class(4, 2, self(0)).costs(1, 9),
			}},
			want: [][]int64{{4, 0}},
		},
		{
			name: "preferred affinity gathers at the cheapest site",
			p:    problem([]Rule{affinity(3).preference(5)}, class(3, 3, self(0)).costs(2, 1, 3)),
			want: [][]int64{{0, 3, 0}},
		},
		{
			name: "preferred affinity looks at all pods before the first goes",
			p: &Problem{
				Dims: 1, Rules: []Rule{affinity(2).preference(1)}, Bins: [][]int64{{1}},
				Classes: []Class{class(4, 2, self(0)).costs(9, 5).bins([]int32{0})},
			},
			want: [][]int64{{0, 4}},
		},
		{
			name: "preferred anti-affinity takes every zone once, then the cheapest",
			p:    problem([]Rule{anti(3).preference(5)}, class(5, 3, self(0)).costs(2, 1, 3)),
			want: [][]int64{{1, 3, 1}},
		},
		{
			name: "lighter preferences give way",
			p:    problem(nil, class(2, 3).penalties(4, 2, 3).costs(1, 9, 1)),
			want: [][]int64{{0, 2, 0}},
		},
		{
			name: "a preference keeps nobody else out",
			p:    problem([]Rule{affinity(2)}, class(1, 2, holds(0)).at(1), class(1, 2, seen(0)).penalties(0, 5)),
			want: [][]int64{{1}, {0, 1}},
		},
	})
}

func TestPlanRoom(t *testing.T) {
	tight := class(3, 1)
	tight.Request = []int64{2}
	check(t, []planCase{
		{
			name: "machines that run are free",
			p: &Problem{
				Dims: 1, Bins: [][]int64{{2}, {9}},
				Classes: []Class{class(4, 2).costs(1, 5).bins(nil, []int32{0, 1})},
			},
			want: [][]int64{{0, 4}},
		},
		{
			name: "where nothing can be bought, what runs is all there is",
			p: &Problem{
				Dims: 1, Bins: [][]int64{{3}, {2}},
				Classes: []Class{tight.costs(Nowhere).bins([]int32{0, 1})},
			},
			want: [][]int64{{2}},
		},
		{
			name: "the tightest machine first, so that the large pod keeps its own",
			p: &Problem{
				Dims: 1, Bins: [][]int64{{5}, {1}},
				Classes: []Class{
					{Count: 1, Priority: 1, Request: []int64{1}, Sites: []Site{{Cost: Nowhere, Bins: []int32{0, 1}, Limit: -1}}},
					{Count: 1, Request: []int64{5}, Sites: []Site{{Cost: Nowhere, Bins: []int32{0, 1}, Limit: -1}}},
				},
			},
			want: [][]int64{{1}, {1}},
		},
		{
			name: "limits hold", p: problem(nil, class(5, 2).limits(1, 2)),
			want: [][]int64{{1, 2}},
		},
		{
			name: "rules that do not exist do not matter",
			p: &Problem{Dims: 2, Bins: [][]int64{{1, 1}}, Classes: []Class{{
				Count: 2, Request: []int64{1, 0}, Links: []Link{holds(4), holds(-1)},
				Sites: []Site{{Cost: Nowhere, Bins: []int32{0}, Limit: -1}, {Cost: 3, Limit: -1, Domains: []int32{7}}},
			}}},
			want: [][]int64{{1, 1}},
		},
		{
			name: "nothing to place, nowhere to go", p: problem(nil, class(0, 2), class(3, 0)),
			want: [][]int64{{0, 0}, {}},
		},
	})
}
