package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Where every pod is where its class is cheapest, no other plan costs less; sites where
// nothing can be bought do not count.
func TestCheapest(t *testing.T) {
	p := &Problem{Classes: []Class{
		{Count: 2, Sites: []Site{{Limit: -1, Cost: 3}, {Limit: -1, Cost: 3}, {Limit: -1, Cost: Nowhere}}},
		{Count: 3, Sites: []Site{{Limit: -1, Cost: 5}, {Limit: -1, Cost: 4}}},
	}}
	s := newPlanner(compile(p))
	cl := &cluster{classes: []int32{0, 1}}
	for _, tc := range []struct {
		placed [][]int64
		want   bool
	}{
		{[][]int64{{1, 1, 0}, {0, 3}}, true},
		{[][]int64{{2, 0, 0}, {1, 2}}, false},
		{[][]int64{{0, 2, 0}, {0, 0}}, true},
	} {
		assert.Equal(t, tc.want, s.cheapest(cl, &draft{placed: tc.placed}), "%v", tc.placed)
	}
}
