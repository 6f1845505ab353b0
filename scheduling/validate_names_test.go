package scheduling

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The set agrees with a map, whatever room it was given at first.
func TestNameSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	for _, size := range []int{0, 1, 100, 5000} {
		set, count := newNameSet(size), map[objectKey]int{}
		for range 4000 {
			key := objectKey{fmt.Sprint("ns-", rng.IntN(3)), fmt.Sprint("pod-", rng.IntN(2000))}
			first, again := set.add(key)
			require.Equal(t, count[key] == 0, first)
			require.Equal(t, count[key] > 1, again)
			count[key]++
		}
		assert.Len(t, set.keys, len(count))
	}
}

// Namespace and name do not run together.
func TestNameSetTellsNamespacesApart(t *testing.T) {
	set := newNameSet(0)
	for _, key := range []objectKey{{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""}, {"bc", "a"}} {
		first, _ := set.add(key)
		assert.True(t, first, key)
	}
}

// Keys of equal hash share a chain and stay apart.
func TestNameSetCollisions(t *testing.T) {
	set := newNameSet(4)
	a, b := objectKey{"", "a"}, objectKey{"", "b"}
	set.keys = append(set.keys, a)
	*set.find(a, 15) = nameSlot{hash: 15, key: 1}
	set.keys = append(set.keys, b)
	*set.find(b, 15) = nameSlot{hash: 15, key: 2}
	assert.Equal(t, int32(1), set.find(a, 15).key)
	assert.Equal(t, int32(2), set.find(b, 15).key)
	assert.Equal(t, nameSlot{hash: 15, key: 2}, set.slots[0], "the chain wraps around")
}
