package podtable

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// A table, and every copy of it, has the entries that a map would have, however many pods are added.
func TestPodTableIsAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type twin struct {
		table *Table
		pods  map[types.NamespacedName]Runner
	}
	pods := make([]*corev1.Pod, 3_000)
	for i := range pods {
		pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", i%7), Name: fmt.Sprint("pod-", i/2)}}
	}
	twins := []*twin{{New(0), map[types.NamespacedName]Runner{}}}
	for step := range 20_000 {
		x := twins[rng.IntN(len(twins))]
		pod := pods[rng.IntN(min(len(pods), 1+step))]
		switch key := podspec.PodKey(pod); {
		case step%2_500 == 2_499:
			y := &twin{x.table.Fork(), map[types.NamespacedName]Runner{}}
			for key, r := range x.pods {
				y.pods[key] = r
			}
			twins = append(twins, y)
		case rng.IntN(4) == 0:
			x.table.Remove(key)
			delete(x.pods, key)
		default:
			r := Runner{pod, fmt.Sprint("node-", rng.IntN(9))}
			x.table.Put(r.Pod, r.Node)
			x.pods[key] = r
		}
	}
	require.Greater(t, len(twins[0].table.shards), leastShards, "tables grow")
	for i, x := range twins {
		spaces := map[string]int{}
		for _, pod := range pods {
			require.Equal(t, x.pods[podspec.PodKey(pod)], x.table.At(podspec.PodKey(pod)), i)
		}
		n := 0
		for pod, node := range x.table.All() {
			n++
			spaces[pod.Namespace]++
			require.Equal(t, Runner{Pod: pod, Node: node}, x.pods[podspec.PodKey(pod)], i)
		}
		assert.Equal(t, len(x.pods), n)
		assert.Equal(t, n, x.table.Count)
		assert.Equal(t, spaces, x.table.Spaces)
	}
}

func TestPodTablesAreAsLargeAsTheyHaveToBe(t *testing.T) {
	for pods, want := range map[int]int{0: 8, 100: 8, 1_000: 64, 100_000: 8_192} {
		assert.Equal(t, want, shardsFor(pods), pods)
	}
}
