package podtable

import (
	"hash/maphash"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

const (
	// podsPerShard is how many pods a part of a Table has about when the table is made, or
	// made larger; with mostPerShard on average it is.
	podsPerShard = 16
	mostPerShard = 4 * podsPerShard
	// leastShards is how many parts a table has at least.
	leastShards = 8
)

// Table holds pods by name, with their nodes. A copy costs little: the two share parts until one of them changes a
// part.
type Table struct {
	seed   maphash.Seed
	shards []*part // as many as a power of 2; nil for those that never had pods
	owner  *holder
	Count  int            // of pods
	Spaces map[string]int // pods by namespace
}

// holder is the owner of a part, which alone may change it; owners differ by address.
type holder struct{ _ byte }

// part is a part of a table: lists in no order, of which a copy takes little.
type part struct {
	owner *holder
	marks []uint32 // of each pod a part of its hash, which is looked at first
	pods  []Runner
}

// Runner is a pod with the node where it runs. The node takes precedence over the pod's spec.nodeName.
type Runner struct {
	Pod  *corev1.Pod
	Node string
}

// New is a table without pods, about to take in so many.
func New(expected int) *Table {
	return &Table{
		seed: maphash.MakeSeed(), shards: make([]*part, shardsFor(expected)), owner: &holder{}, Spaces: map[string]int{},
	}
}

func shardsFor(pods int) int { return max(leastShards, 1<<bits.Len(uint(pods/podsPerShard))) }

// Fork returns a copy. The table itself may be used on.
func (t *Table) Fork() *Table {
	c := *t
	t.owner, c.owner = &holder{}, &holder{}
	c.shards, c.Spaces = slices.Clone(t.shards), maps.Clone(t.Spaces)
	return &c
}

// find returns the part where a pod belongs, its mark, and its place there, -1 if it is not
// there.
func (t *Table) find(key types.NamespacedName) (shard int, mark uint32, at int) {
	h := maphash.String(t.seed, key.Name) ^ 3*maphash.String(t.seed, key.Namespace)
	shard, mark = int(h%uint64(len(t.shards))), uint32(h>>32)
	s := t.shards[shard]
	if s == nil {
		return shard, mark, -1
	}
	for i, m := range s.marks {
		if m == mark && podspec.PodKey(s.pods[i].Pod) == key {
			return shard, mark, i
		}
	}
	return shard, mark, -1
}

// Get returns a pod, nil if it is not there.
func (t *Table) Get(key types.NamespacedName) *corev1.Pod { return t.At(key).Pod }

// At returns a pod with its node, the zero Runner if the table does not have it.
func (t *Table) At(key types.NamespacedName) Runner {
	shard, _, at := t.find(key)
	if at < 0 {
		return Runner{}
	}
	return t.shards[shard].pods[at]
}

// own returns a part to be changed.
func (t *Table) own(shard int) *part {
	s := t.shards[shard]
	switch {
	case s == nil:
		s = &part{owner: t.owner}
	case s.owner != t.owner:
		// The copy has room for one more, because most changes add or remove one pod.
		c := &part{owner: t.owner, marks: make([]uint32, len(s.marks), len(s.marks)+1), pods: make([]Runner, len(s.pods), len(s.pods)+1)}
		copy(c.marks, s.marks)
		copy(c.pods, s.pods)
		s = c
	}
	t.shards[shard] = s
	return s
}

// Put stores a pod that runs on a node.
func (t *Table) Put(pod *corev1.Pod, node string) {
	key := podspec.PodKey(pod)
	shard, mark, at := t.find(key)
	s := t.own(shard)
	if at >= 0 {
		s.pods[at] = Runner{pod, node}
		return
	}
	s.marks, s.pods = append(s.marks, mark), append(s.pods, Runner{pod, node})
	t.Spaces[key.Namespace]++
	if t.Count++; t.Count > mostPerShard*len(t.shards) {
		t.grow()
	}
}

// Remove takes a pod away, if it is there.
func (t *Table) Remove(key types.NamespacedName) {
	shard, _, at := t.find(key)
	if at < 0 {
		return
	}
	s := t.own(shard)
	last := len(s.pods) - 1
	s.marks[at], s.pods[at] = s.marks[last], s.pods[last]
	s.pods[last] = Runner{}
	s.marks, s.pods = s.marks[:last], s.pods[:last]
	t.Count--
	if t.Spaces[key.Namespace]--; t.Spaces[key.Namespace] == 0 {
		delete(t.Spaces, key.Namespace)
	}
}

// grow deals the pods out to more parts.
func (t *Table) grow() {
	c := New(t.Count)
	c.seed = t.seed
	for pod, node := range t.All() {
		c.Put(pod, node)
	}
	*t = *c
}

// All yields the pods with their nodes, in no order.
func (t *Table) All() iter.Seq2[*corev1.Pod, string] {
	return func(yield func(*corev1.Pod, string) bool) {
		for _, shard := range t.shards {
			if shard == nil {
				continue
			}
			for _, r := range shard.pods {
				if !yield(r.Pod, r.Node) {
					return
				}
			}
		}
	}
}
