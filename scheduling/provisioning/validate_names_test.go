package provisioning

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// The set agrees with a map, whatever room it was given at first.
func TestNameSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	for _, size := range []int{0, 1, 100, 5000} {
		set, count := validate.NewNameSet(size), map[types.NamespacedName]int{}
		for range 4000 {
			key := types.NamespacedName{Namespace: fmt.Sprint("ns-", rng.IntN(3)), Name: fmt.Sprint("pod-", rng.IntN(2000))}
			first, again := set.Add(key)
			require.Equal(t, count[key] == 0, first)
			require.Equal(t, count[key] > 1, again)
			count[key]++
		}
		assert.Len(t, set.Keys, len(count))
	}
}

// Namespace and name do not run together.
func TestNameSetTellsNamespacesApart(t *testing.T) {
	set := validate.NewNameSet(0)
	for _, key := range []types.NamespacedName{{Namespace: "a", Name: "bc"}, {Namespace: "ab", Name: "c"}, {Namespace: "", Name: "abc"}, {Namespace: "abc", Name: ""}, {Namespace: "bc", Name: "a"}} {
		first, _ := set.Add(key)
		assert.True(t, first, key)
	}
}

// Keys of equal hash share a chain and stay apart.
func TestNameSetCollisions(t *testing.T) {
	set := validate.NewNameSet(4)
	a, b := types.NamespacedName{Namespace: "", Name: "a"}, types.NamespacedName{Namespace: "", Name: "b"}
	set.Keys = append(set.Keys, a)
	*set.Find(a, 15) = validate.NameSlot{Hash: 15, Key: 1}
	set.Keys = append(set.Keys, b)
	*set.Find(b, 15) = validate.NameSlot{Hash: 15, Key: 2}
	assert.Equal(t, int32(1), set.Find(a, 15).Key)
	assert.Equal(t, int32(2), set.Find(b, 15).Key)
	assert.Equal(t, validate.NameSlot{Hash: 15, Key: 2}, set.Slots[0], "the chain wraps around")
}
