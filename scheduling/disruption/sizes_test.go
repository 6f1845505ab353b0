package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func roomsOf(free ...[]int64) *rooms {
	r := &rooms{unit: []float64{1, 1}}
	for i, v := range free {
		r.names = append(r.names, string(rune('a'+i)))
		r.free = append(r.free, v)
		r.left = append(r.left, r.share(v))
	}
	return r
}

// Sizes go where least is free; what does not all fit takes nothing.
func TestRooms(t *testing.T) {
	r := roomsOf([]int64{4, 4}, []int64{2, 2})
	assert.True(t, r.put([][]int64{{1, 1}, {2, 1}}, "", true))
	assert.Equal(t, [][]int64{{3, 3}, {0, 1}}, r.free)
	assert.False(t, r.put([][]int64{{3, 3}, {1, 1}}, "", true))
	assert.Equal(t, [][]int64{{3, 3}, {0, 1}}, r.free, "nothing is taken")
	assert.True(t, r.put([][]int64{{3, 3}}, "", false))
	assert.Equal(t, [][]int64{{3, 3}, {0, 1}}, r.free, "only asked")
	assert.False(t, r.put([][]int64{{3, 3}}, "a", false), "a node is no room for its own pods")
	assert.True(t, r.put(nil, "", true))
}
