package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// begun makes a planner to which all classes are known, and none is placed.
func begun(p *Problem) *planner {
	s := newPlanner(compile(p))
	for c := range p.Classes {
		s.begin(int32(c))
	}
	return s
}

// harms asks how much harm a pod of a class does, site by site.
func harms(s *planner, class int32) (out []int64) {
	cells, _ := s.of(class)
	for i := range cells {
		out = append(out, s.lookahead.harm(class, cells[i].terms))
	}
	return out
}

func TestHarm(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *Problem
		want []int64 // of the first class
	}{
		{
			name: "nobody waits",
			p:    problem([]Rule{anti(2)}, class(3, 2, self(0))),
			want: []int64{0, 0},
		},
		{
			name: "counted pods harm those that keep away from them, the more the fewer domains these have",
			p:    problem([]Rule{anti(3)}, class(1, 3, seen(0)), class(2, 3, holds(0)).at(0, 1), class(1, 3, holds(0)).at(1)),
			want: []int64{2 * scarcity / 2, 2*scarcity/2 + scarcity, 0},
		},
		{
			name: "no harm where counted pods are already",
			p:    problem([]Rule{anti(2).running(1, 0)}, class(1, 2, seen(0)), class(1, 2, holds(0))),
			want: []int64{0, scarcity / 2},
		},
		{
			name: "pods that keep others away harm these",
			p:    problem([]Rule{anti(2)}, class(1, 2, holds(0)), class(4, 2, seen(0)).at(1)),
			want: []int64{0, 4 * scarcity},
		},
		{
			name: "no harm where others keep them away already",
			p:    problem([]Rule{anti(2).holders(0, 1)}, class(1, 2, holds(0)), class(4, 2, seen(0)).at(1)),
			want: []int64{0, 0},
		},
		{
			name: "both ways for those that do both",
			p:    problem([]Rule{anti(2)}, class(1, 2, self(0)), class(1, 2, self(0)).at(1)),
			want: []int64{0, 2 * scarcity},
		},
		{
			name: "no harm by spreads and affinities",
			p:    problem([]Rule{spread(1, 2), affinity(2)}, class(1, 2, seen(0), seen(1)), class(4, 2, holds(0), holds(1))),
			want: []int64{0, 0},
		},
		{
			name: "no harm to wishes",
			p:    problem([]Rule{anti(2).wish(2)}, class(1, 2, seen(0)), class(4, 2, holds(0))),
			want: []int64{0, 0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, harms(begun(c.p), 0))
		})
	}
}

// TestHarmFades checks that those who are placed are not in need any more, and are
// again once they are taken back.
func TestHarmFades(t *testing.T) {
	s := begun(problem([]Rule{anti(2)}, class(1, 2, seen(0)), class(2, 2, holds(0)).at(1)))
	assert.Equal(t, []int64{0, 2 * scarcity}, harms(s, 0))
	s.place(1)
	assert.Equal(t, []int64{0, 0}, harms(s, 0))
	s.counts.restart(0, s.reach)
	s.begin(1)
	assert.Equal(t, []int64{0, 2 * scarcity}, harms(s, 0))
}

func TestWants(t *testing.T) {
	wanted := func(s *planner, class int32) (out []bool) {
		cells, _ := s.of(class)
		for i := range cells {
			out = append(out, s.lookahead.wants(&cells[i].terms[0]))
		}
		return out
	}
	s := begun(problem([]Rule{affinity(3)}, class(2, 3, seen(0)), class(1, 3, holds(0)).at(1, 2)))
	assert.Equal(t, []bool{false, true, true}, wanted(s, 0), "where followers can go")
	cells, _ := s.of(0)
	s.counts.add(cells[0].terms, 1)
	assert.Equal(t, []bool{false, true, true}, wanted(s, 0), "a target that they cannot reach")
	s.counts.add(cells[2].terms, 1)
	assert.Equal(t, []bool{false, false, false}, wanted(s, 0), "they have a target")
}

func TestGather(t *testing.T) {
	p := &Problem{
		Dims: 1, Rules: []Rule{affinity(2)}, Bins: [][]int64{{2}},
		Classes: []Class{
			class(1, 2, seen(0)),
			class(5, 2, holds(0)).costs(3, 4).bins([]int32{0}),
			class(4, 2, holds(0)).costs(Nowhere, 1).limits(-1, 3),
			class(6, 2, seen(0)),
		},
	}
	s := begun(p)
	cells, _ := s.of(0)
	missing, cost := s.lookahead.gather(&cells[0].terms[0])
	assert.Equal(t, []int64{4, 9}, []int64{missing, cost}, "two are free, three are bought, four have no place")
	missing, cost = s.lookahead.gather(&cells[1].terms[0])
	assert.Equal(t, []int64{1, 23}, []int64{missing, cost}, "one is above the limit")
}
