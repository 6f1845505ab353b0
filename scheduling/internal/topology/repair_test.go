package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClusters(t *testing.T) {
	rules := []Rule{spread(1, 2), anti(2), affinity(2), spread(1, 2).wish(1), anti(2)}
	p := problem(rules,
		class(1, 2, self(0)),            // with the third, by way of the fifth
		class(1, 2),                     // alone: in no cluster
		class(1, 2, seen(1)),            //
		class(1, 2, self(3)),            // a wish ties too
		class(1, 2, holds(0), holds(1)), //
		class(1, 2, seen(3)).priority(7),
		class(1, 2, self(2), holds(9)))
	s := newPlanner(compile(p))
	var got [][]int32
	for _, cl := range s.clusters() {
		got = append(got, cl.classes, cl.rules)
	}
	assert.Equal(t, [][]int32{{5, 3}, {3}, {0, 2, 4}, {0, 1}, {6}, {2}}, got, "rule 4 ties nobody")
}

func TestOrder(t *testing.T) {
	rules := []Rule{spread(1, 3), anti(3), spread(1, 3).wish(1)}
	large := class(1, 3, self(0))
	large.Request = []int64{5}
	p := problem(rules,
		class(1, 3, self(0)),
		large,
		class(1, 3, self(0), self(1)),
		class(1, 3, self(0)).at(1),
		class(1, 3, seen(0), self(2)),
		class(1, 3, self(0)).priority(1),
		class(1, 3, self(0)).limits(0, 0))
	assert.Equal(t, []int32{5, 4, 3, 6, 2, 1, 0}, newPlanner(compile(p)).choosingOrder(),
		"priority, those that hold nothing hard, fewest sites, most rules, largest request")
}

// TestSettleDropsWhatDoesNotBind puts pods where they must not be.
func TestSettleDropsWhatDoesNotBind(t *testing.T) {
	p := &Problem{
		Dims: 1, Bins: [][]int64{{9}}, Rules: []Rule{spread(1, 2)},
		Classes: []Class{class(5, 2, self(0)).bins([]int32{0}).limits(7, 9)},
	}
	s := begun(p)
	all := newCluster(s.tables)
	s.todo[0] = 0
	for range 4 {
		n, _ := s.rooms.find(0)
		require.Positive(t, n)
		s.rooms.take(0, 1, s.rooms.running(0))
	}
	s.rooms.take(1, 1, false)
	s.placed[0], s.placed[1] = 4, 1
	s.recount(all)

	assert.True(t, s.dropUnbindable(all))
	assert.Equal(t, []int64{2, 1}, s.placed)
	assert.Equal(t, []int64{2}, s.todo)
	assert.Equal(t, []int64{7}, s.rooms.free(0))
	assert.Equal(t, []int64{5, 8}, s.rooms.left)
	assert.Equal(t, []int64{2, 1}, s.counts.count)
	assert.False(t, s.dropUnbindable(all), "what is left binds")
}

// TestRetry is about problems that cannot be solved class by class in the first order.
func TestRetry(t *testing.T) {
	check(t, []planCase{
		{
			name: "a zone is left for the class that cannot go elsewhere",
			p: problem([]Rule{anti(3), spread(1, 3)},
				class(1, 3, self(0), self(1)).at(0, 1).costs(1, 9), class(1, 3, seen(0)).at(0)),
			want: [][]int64{{0, 1}, {1}},
		},
		{
			name: "counted pods are evened out for those that can go to one zone only",
			p: problem([]Rule{spread(1, 2).running(0, 0)},
				class(2, 2, holds(0)).at(0), class(6, 2, seen(0)).costs(1, 2)),
			want: [][]int64{{2}, {3, 3}},
		},
		{
			name: "a wish gives way to what others need, also across priorities",
			p: problem([]Rule{affinity(2)},
				class(3, 2, seen(0)).penalties(0, 7).priority(3), class(1, 2, holds(0)).at(1)),
			want: [][]int64{{2, 1}, {1}},
		},
		{
			name: "nothing helps: four pods that keep each other away, three zones (P126)",
			p:    problem([]Rule{anti(3)}, class(2, 3, self(0)), class(2, 3, self(0)).priority(1)),
			want: [][]int64{{0, 0, 1}, {1, 1, 0}},
		},
	})
}

func TestBetterDraft(t *testing.T) {
	base := &draft{unplaced: []int64{1, 5}}
	for _, c := range []struct {
		name string
		d    draft
		want bool
	}{
		{"more of the urgent ones", draft{unplaced: []int64{0, 9}, risk: risk{doubt: 1}}, true},
		{"fewer of the urgent ones", draft{unplaced: []int64{2, 0}}, false},
		{"more of the others", draft{unplaced: []int64{1, 4}, risk: risk{doubt: 1}}, true},
		{"the same", draft{unplaced: []int64{1, 5}}, false},
		{"the same, in fewer orders", draft{unplaced: []int64{1, 5}, risk: risk{doubt: 1}}, false},
	} {
		assert.Equal(t, c.want, c.d.better(base), c.name)
	}
	assert.True(t, base.better(&draft{unplaced: []int64{1, 5}, risk: risk{doubt: 1}}), "the same, in more orders")
}
