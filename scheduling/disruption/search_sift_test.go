package disruption

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Nodes that cost more than what their pods are worth go, and there is room for their pods on
// those that stay; the sets differ, and are the same each time.
func TestSifted(t *testing.T) {
	x := wornSearch(t, 12, "100%")
	sets := x.sifted()
	require.NotEmpty(t, sets)
	assert.Equal(t, sets, x.sifted(), "the same each time")
	for i, leave := range sets {
		assert.IsIncreasing(t, leave)
		assert.NotContains(t, sets[:i], leave)
		assert.Greater(t, len(leave), 3, "half of the room is free")
	}
}

// Climbing ends where no other mind about one node, or about one that stays and one that goes,
// is better, and mostly at the best of all sets.
func TestClimb(t *testing.T) {
	missed := 0
	for seed := range uint64(20) {
		d := rand.New(rand.NewPCG(seed, 1))
		n := 2 + d.IntN(7)
		s := &sift{
			names: make([]string, n), price: make([]float64, n), worth: make([]float64, n), pods: make([][]siftCount, n), room: make([]siftRoom, n),
			stays: make([]bool, n), unit: make([]float64, 2),
		}
		for range 3 {
			s.classes = append(s.classes, siftClass{size: []int64{1 + d.Int64N(4), 1 + d.Int64N(4)}, worth: 1 + d.Float64()})
		}
		for i := range n {
			s.price[i] = 4 * d.Float64()
			s.room[i] = siftRoom{free: []int64{d.Int64N(12), d.Int64N(12)}, admits: []bool{true}}
			for c := range s.classes {
				s.pods[i] = append(s.pods[i], siftCount{class: c, n: d.IntN(3)})
				s.worth[i] += float64(s.pods[i][c].n) * s.classes[c].worth
			}
		}
		s.measure()
		least := math.Inf(1)
		for set := range 1 << n {
			for i := range n {
				s.stays[i] = set>>i&1 == 1
			}
			least = min(least, s.value())
		}
		s.begin(nil)
		s.climb(s.value(), siftTimes)
		end := s.value()
		if end > least+1e-9 {
			missed++
		}
		for i := range n {
			for j := range n {
				if i == j || s.stays[i] != s.stays[j] {
					s.turn(i, j)
					assert.GreaterOrEqual(t, s.value(), end-1e-9, "seed %d", seed)
					s.turn(i, j)
				}
			}
		}
	}
	assert.LessOrEqual(t, missed, 2)
}

// What is remembered of a room is what is worked out anew, and pods go only where they may.
func TestFill(t *testing.T) {
	s := &sift{
		unit:    []float64{0.1, 0.1},
		classes: []siftClass{{size: []int64{2, 1}, worth: 2}, {size: []int64{1, 2}, worth: 2}, {size: []int64{3, 3}, worth: 5, group: 1}},
		pods:    make([][]siftCount, 2),
		room:    []siftRoom{{free: []int64{6, 6}, admits: []bool{true, true}}, {free: []int64{6, 6}, admits: []bool{true, false}}},
	}
	s.measure()
	for i, tt := range []struct {
		room    int
		waiting []int
		worth   float64
		left    []int
	}{
		{0, []int{9, 9, 9}, 10, []int{9, 9, 7}},
		{0, []int{9, 9, 1}, 9, []int{8, 8, 0}},
		{1, []int{9, 9, 9}, 8, []int{7, 7, 9}},
		{1, []int{1, 0, 9}, 2, []int{0, 0, 9}},
		{0, []int{0, 0, 0}, 0, []int{0, 0, 0}},
	} {
		copy(s.waiting, tt.waiting)
		assert.InDelta(t, tt.worth, s.fill(&s.room[tt.room]), 1e-9, i)
		assert.Equal(t, tt.left, s.waiting, i)
		copy(s.waiting, tt.waiting)
		assert.InDelta(t, tt.worth, s.pick(&s.room[tt.room]), 1e-9, i)
		assert.Equal(t, tt.left, s.waiting, i)
	}
}

// Pods that ask for other nodes are other classes, and rooms know whom they admit.
func TestClassesTellWherePodsMayGo(t *testing.T) {
	spot := pod("c", "n1", "500m")
	spot.Spec.NodeSelector = map[string]string{scheduling.CapacityTypeLabel: string(offerings.Spot)}
	c := world(t, pool(), []*corev1.Node{machine(t, "n1", "m.xlarge", offerings.Spot), machine(t, "n2", "m.xlarge", offerings.OnDemand)},
		pod("a", "n1", "500m"), pod("b", "n2", "500m"), spot)
	f := newFrame(Planner{Now: noon()}, &c)
	state, err := newState(t.Context(), Planner{Now: noon()}, &c)
	require.NoError(t, err)
	x := &search{frame: f, state: state, target: &target{}, settled: map[string]bool{}}
	s := x.newSift(x.order(), &rooms{})
	assert.Len(t, s.classes, 2, "pods that ask for the same and may go anywhere are one")
	for i, name := range s.names {
		for group, admits := range s.room[i].admits {
			assert.Equal(t, name == "n1" || s.classes[0].group == group, admits, "%s, group %d", name, group)
		}
	}
}
