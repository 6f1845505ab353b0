package scheduling

import (
	"hash/maphash"
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// shardCount is how many parts a podTable has: a part of a table of 100,000 pods is
// copied in some microseconds.
const shardCount = 1024

// podTable holds pods by name. A copy costs next to nothing: the parts are shared until
// one of both changes them.
type podTable struct {
	seed   maphash.Seed
	shards [shardCount]map[objectKey]*corev1.Pod
	own    [shardCount]bool // parts that nobody else holds
	count  int
	spaces map[string]int // pods by namespace
}

func newPodTable() *podTable { return &podTable{seed: maphash.MakeSeed(), spaces: map[string]int{}} }

// fork returns a copy. The table itself may be used on.
func (t *podTable) fork() *podTable {
	clear(t.own[:])
	c := *t
	c.spaces = maps.Clone(t.spaces)
	return &c
}

func (t *podTable) shard(key objectKey) int {
	h := maphash.String(t.seed, key.name) ^ 3*maphash.String(t.seed, key.namespace)
	return int((h ^ h>>32) % shardCount)
}

func (t *podTable) get(key objectKey) *corev1.Pod { return t.shards[t.shard(key)][key] }

// put stores a pod, or takes it away where it is nil.
func (t *podTable) put(key objectKey, pod *corev1.Pod) {
	i := t.shard(key)
	if !t.own[i] {
		copied := maps.Clone(t.shards[i]) // block by block, which beats one pod after the other
		if copied == nil {
			copied = map[objectKey]*corev1.Pod{}
		}
		t.shards[i], t.own[i] = copied, true
	}
	before := len(t.shards[i])
	if pod == nil {
		delete(t.shards[i], key)
	} else {
		t.shards[i][key] = pod
	}
	more := len(t.shards[i]) - before
	t.count += more
	if t.spaces[key.namespace] += more; t.spaces[key.namespace] == 0 {
		delete(t.spaces, key.namespace)
	}
}

// all yields the pods in no order.
func (t *podTable) all() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for _, shard := range &t.shards {
			for _, pod := range shard {
				if !yield(pod) {
					return
				}
			}
		}
	}
}
