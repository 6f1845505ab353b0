package provisioning

import (
	"hash/maphash"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
)

const (
	// podsPerShard is how many pods a part of a podTable has about when the table is made, or
	// made larger; with mostPerShard on average it is.
	podsPerShard = 16
	mostPerShard = 4 * podsPerShard
	// leastShards is how many parts a table has at least.
	leastShards = 8
)

// podTable holds pods by name, and where they run. A copy costs little: the parts are
// shared until one of the two changes them.
type podTable struct {
	seed   maphash.Seed
	shards []*podShard // as many as a power of 2; nil for those that never had pods
	owner  *podOwner
	count  int
	spaces map[string]int // pods by namespace
}

// podOwner is who may change a part, told from others by its address.
type podOwner struct{ _ byte }

// podShard is a part of a table: lists in no order, of which a copy takes little.
type podShard struct {
	owner *podOwner
	marks []uint32 // of each pod a part of its hash, which is looked at first
	pods  []runner
}

// runner is a pod with the node where it runs, whatever the pod says.
type runner struct {
	pod  *corev1.Pod
	node string
}

// newPodTable is a table without pods, about to take in so many.
func newPodTable(expected int) *podTable {
	return &podTable{
		seed: maphash.MakeSeed(), shards: make([]*podShard, shardsFor(expected)), owner: &podOwner{}, spaces: map[string]int{},
	}
}

func shardsFor(pods int) int { return max(leastShards, 1<<bits.Len(uint(pods/podsPerShard))) }

// fork returns a copy. The table itself may be used on.
func (t *podTable) fork() *podTable {
	c := *t
	t.owner, c.owner = &podOwner{}, &podOwner{}
	c.shards, c.spaces = slices.Clone(t.shards), maps.Clone(t.spaces)
	return &c
}

// find returns the part where a pod belongs, its mark, and its place there, -1 if it is not
// there.
func (t *podTable) find(key types.NamespacedName) (shard int, mark uint32, at int) {
	h := maphash.String(t.seed, key.Name) ^ 3*maphash.String(t.seed, key.Namespace)
	shard, mark = int(h%uint64(len(t.shards))), uint32(h>>32)
	s := t.shards[shard]
	if s == nil {
		return shard, mark, -1
	}
	for i, m := range s.marks {
		if m == mark && podKey(s.pods[i].pod) == key {
			return shard, mark, i
		}
	}
	return shard, mark, -1
}

// get returns a pod, nil if it is not there.
func (t *podTable) get(key types.NamespacedName) *corev1.Pod { return t.at(key).pod }

// at returns a pod with its node, nothing if it is not there.
func (t *podTable) at(key types.NamespacedName) runner {
	shard, _, at := t.find(key)
	if at < 0 {
		return runner{}
	}
	return t.shards[shard].pods[at]
}

// own returns a part to be changed.
func (t *podTable) own(shard int) *podShard {
	s := t.shards[shard]
	switch {
	case s == nil:
		s = &podShard{owner: t.owner}
	case s.owner != t.owner:
		// With room for one more, as pods mostly come or go one at a time.
		c := &podShard{owner: t.owner, marks: make([]uint32, len(s.marks), len(s.marks)+1), pods: make([]runner, len(s.pods), len(s.pods)+1)}
		copy(c.marks, s.marks)
		copy(c.pods, s.pods)
		s = c
	}
	t.shards[shard] = s
	return s
}

// put stores a pod that runs on a node.
func (t *podTable) put(pod *corev1.Pod, node string) {
	key := podKey(pod)
	shard, mark, at := t.find(key)
	s := t.own(shard)
	if at >= 0 {
		s.pods[at] = runner{pod, node}
		return
	}
	s.marks, s.pods = append(s.marks, mark), append(s.pods, runner{pod, node})
	t.spaces[key.Namespace]++
	if t.count++; t.count > mostPerShard*len(t.shards) {
		t.grow()
	}
}

// remove takes a pod away, if it is there.
func (t *podTable) remove(key types.NamespacedName) {
	shard, _, at := t.find(key)
	if at < 0 {
		return
	}
	s := t.own(shard)
	last := len(s.pods) - 1
	s.marks[at], s.pods[at] = s.marks[last], s.pods[last]
	s.pods[last] = runner{}
	s.marks, s.pods = s.marks[:last], s.pods[:last]
	t.count--
	if t.spaces[key.Namespace]--; t.spaces[key.Namespace] == 0 {
		delete(t.spaces, key.Namespace)
	}
}

// grow deals the pods out to more parts.
func (t *podTable) grow() {
	c := newPodTable(t.count)
	c.seed = t.seed
	for pod, node := range t.all() {
		c.put(pod, node)
	}
	*t = *c
}

// all yields the pods with their nodes, in no order.
func (t *podTable) all() iter.Seq2[*corev1.Pod, string] {
	return func(yield func(*corev1.Pod, string) bool) {
		for _, shard := range t.shards {
			if shard == nil {
				continue
			}
			for _, r := range shard.pods {
				if !yield(r.pod, r.node) {
					return
				}
			}
		}
	}
}
