package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chosen picks anchors for a problem, as domains of the rules.
func chosen(p *Problem) (anchors []int32, v verdict) {
	s := newPlanner(compile(p))
	all := newCluster(s.tables)
	h := s.chooseAnchors(all, s.crossed(all))
	for r, d := range h.of {
		if d >= 0 {
			d -= s.domFirst[r]
		}
		anchors = append(anchors, d)
	}
	return anchors, h.judge()
}

func TestChooseHomes(t *testing.T) {
	two := []Rule{spread(1, 3), spread(1, 3)}
	for _, c := range []struct {
		name    string
		p       *Problem
		anchors []int32
		want    verdict
	}{
		{
			name: "the cheapest, for all the same",
			p: problem(two, class(5, 3, holds(0), seen(1)).costs(9, 2, 3), class(5, 3, holds(1), seen(0)).costs(9, 2, 3),
				class(12, 3, seen(0)), class(12, 3, seen(1))),
			anchors: []int32{1, 1}, want: verdict{cost: 20},
		},
		{
			name: "different ones if others cannot make up for them",
			p: problem(two, class(5, 3, holds(0), seen(1)).costs(9, 2, 3), class(5, 3, holds(1), seen(0)).costs(9, 2, 3),
				class(2, 3, seen(0)), class(2, 3, seen(1))),
			anchors: []int32{1, 2}, want: verdict{lean: 10, cost: 25},
		},
		{
			name: "pods that hold a spread alone make up for others, too",
			p: problem(two, class(5, 3, holds(0), seen(1)), class(5, 3, holds(1), seen(0)),
				class(8, 3, self(0)), class(8, 3, self(1))),
			anchors: []int32{0, 0}, want: verdict{cost: 100},
		},
		{
			name: "pods with an affinity do not",
			p: problem([]Rule{spread(1, 3), spread(1, 3), affinity(3)}, class(5, 3, holds(0), seen(1)), class(5, 3, holds(1), seen(0)),
				class(8, 3, seen(0), self(2)), class(8, 3, seen(1), self(2))),
			anchors: []int32{0, 1, None}, want: verdict{lean: 10, cost: 100},
		},
		{
			name: "where pods run it may be high",
			p: problem([]Rule{spread(1, 3).running(0, 4, 4), spread(1, 3).running(0, 4, 4)},
				class(5, 3, holds(0), seen(1)), class(5, 3, holds(1), seen(0))),
			anchors: []int32{0, 0}, want: verdict{cost: 100},
		},
		{
			name:    "one domain is all there is",
			p:       problem(two, class(5, 1, holds(0), seen(1)), class(5, 1, holds(1), seen(0))),
			anchors: []int32{0, 0}, want: verdict{cost: 100},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			anchors, v := chosen(c.p)
			assert.Equal(t, c.anchors, anchors)
			assert.Equal(t, c.want, v)
		})
	}
}

// TestFlocks groups classes by what they are tied to and where they can go.
func TestFlocks(t *testing.T) {
	p := problem([]Rule{spread(1, 3), spread(1, 3)},
		class(5, 3, holds(0), seen(1)),
		class(7, 3, holds(0), seen(1)).costs(1, 2, 3),
		class(1, 3, holds(1), seen(0)),
		class(1, 3, holds(0), seen(1)).at(0, 1),
		class(1, 3, self(0), seen(1)))
	twice := class(2, 3, holds(0), seen(1)) // in each zone there are two sites, one cheaper
	twice.Sites = append(twice.Sites, class(2, 3, holds(0), seen(1)).costs(1, 1, 1).Sites...)
	p.Classes = append(p.Classes, twice)
	s := newPlanner(compile(p))
	spreadGroups := s.spreadGroups([]int32{0, 1, 2, 3, 4, 5})
	require.Len(t, spreadGroups, 4)
	assert.Equal(t, []int32{0, 1, 5}, spreadGroups[0].classes)
	assert.Equal(t, int64(14), spreadGroups[0].pods)
	assert.Equal(t, []int64{50 + 7 + 2, 50 + 14 + 2, 50 + 21 + 2}, spreadGroups[0].cost)
	assert.Equal(t, []int32{2}, spreadGroups[1].classes)
	assert.Equal(t, []int32{3}, spreadGroups[2].classes)
	assert.Equal(t, []int32{4}, spreadGroups[3].classes)
}
