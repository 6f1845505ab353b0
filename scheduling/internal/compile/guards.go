package compile

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// guard is a term by which a running pod keeps others away.
type guard struct {
	key  string // of the label that its node and others share
	name string // of whom it keeps away, see termReader.target
	pod  string
	by   *corev1.Pod
	term *corev1.PodAffinityTerm
}

// guardsOf are the terms by which a pod keeps others away wherever it is.
func guardsOf(pod *corev1.Pod) []guard {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	out := make([]guard, len(terms))
	name := podspec.PodName(pod)
	for i := range terms {
		out[i] = guard{key: terms[i].TopologyKey, name: string(podspec.AppendTargetName(nil, pod, terms[i:i+1])), pod: name, by: pod, term: &terms[i]}
	}
	return out
}

// Watch is all guards of a cluster. It is not changed once it is made.
type Watch struct {
	names []*guard // one of each name, sorted by it
	posts []post
}

// post is a guard on its node, in the order of keepers.
type post struct {
	*guard
	node string
	at   int // place of its name
}

// NewWatch lists the guards of hosts.
func NewWatch(hosts []*Host) *Watch {
	w := &Watch{}
	index := map[string]int{}
	for _, h := range hosts {
		for i := range h.Guards {
			g := &h.Guards[i]
			if _, ok := index[g.name]; !ok {
				index[g.name] = 0
				w.names = append(w.names, g)
			}
			w.posts = append(w.posts, post{guard: g, node: h.Name})
		}
	}
	slices.SortFunc(w.names, func(a, b *guard) int { return cmp.Compare(a.name, b.name) })
	for i, g := range w.names {
		index[g.name] = i
	}
	for i := range w.posts {
		w.posts[i].at = index[w.posts[i].name]
	}
	slices.SortFunc(w.posts, func(a, b post) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node), cmp.Compare(a.pod, b.pod))
	})
	return w
}

// kept is the guards of a cluster as keepers, of some targets.
type kept struct {
	watch                *Watch
	targets              []int // by place of the name
	existingAntiAffinity []ExistingAntiAffinity
}

// readGuards adds the targets of what running pods keep away, and returns them by place of
// the name.
func (c *Compiler) readGuards() []int {
	out := make([]int, len(c.Cluster.Watch.names))
	for i, g := range c.Cluster.Watch.names {
		out[i] = anti(c.TopologyTerms, g.by, g.term, 0).Target
	}
	return out
}

// postKeepers returns what running pods keep away, sorted by label, target, node and pod:
// targets have the order of their names.
func (c *Compiler) postKeepers(targets []int) []ExistingAntiAffinity {
	w := c.Cluster.Watch
	if k := c.Memory.kept; k != nil && k.watch == w && slices.Equal(k.targets, targets) {
		return k.existingAntiAffinity
	}
	out := make([]ExistingAntiAffinity, len(w.posts))
	for i := range w.posts {
		p := &w.posts[i]
		out[i] = ExistingAntiAffinity{Tie: podspec.Tie{Kind: podspec.AntiTie, Key: p.key, Target: targets[p.at]}, Node: p.node, Pod: p.pod}
	}
	c.Memory.kept = &kept{watch: w, targets: targets, existingAntiAffinity: out}
	return out
}

// posts are the places of the keepers, -1 where their node is none.
func (k *nodeLocations) posts(w *Watch) []int32 {
	if k.watch == w {
		return k.posted
	}
	out := make([]int32, len(w.posts))
	for i := range w.posts {
		if out[i] = -1; i > 0 && w.posts[i].node == w.posts[i-1].node {
			out[i] = out[i-1]
		} else if n, ok := k.at[w.posts[i].node]; ok {
			out[i] = int32(n)
		}
	}
	k.watch, k.posted = w, out
	return out
}

// Kept yields the keepers whose nodes have the label that they are about, with the places of
// these.
func (l *LocationIndex) Kept() iter.Seq2[*ExistingAntiAffinity, int] {
	posts := l.Country.posts(l.Cluster.Watch)
	return func(yield func(*ExistingAntiAffinity, int) bool) {
		var column *placeColumn
		for i, n := range posts {
			k := &l.ExistingAntiAffinity[i]
			if i == 0 || k.Key != l.ExistingAntiAffinity[i-1].Key {
				column = l.Country.Column(k.Key)
			}
			if n >= 0 && column.numbers[n] >= 0 && !yield(k, int(n)) {
				return
			}
		}
	}
}
