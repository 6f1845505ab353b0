package scheduling

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// guard is a term by which a running pod keeps others away.
type guard struct {
	key  string // of the label that its node and others share
	name string // of whom it keeps away, see bondReader.target
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
	name := podName(pod)
	for i := range terms {
		out[i] = guard{key: terms[i].TopologyKey, name: string(appendTargetName(nil, pod, terms[i:i+1])), pod: name, by: pod, term: &terms[i]}
	}
	return out
}

// watch is all guards of a cluster. It is not changed once it is made.
type watch struct {
	names []*guard // one of each name, sorted by it
	posts []post
}

// post is a guard on its node, in the order of keepers.
type post struct {
	*guard
	node string
	at   int // place of its name
}

// newWatch lists the guards of hosts.
func newWatch(hosts []*host) *watch {
	w := &watch{}
	index := map[string]int{}
	for _, h := range hosts {
		for i := range h.guards {
			g := &h.guards[i]
			if _, ok := index[g.name]; !ok {
				index[g.name] = 0
				w.names = append(w.names, g)
			}
			w.posts = append(w.posts, post{guard: g, node: h.name})
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
	watch   *watch
	targets []int // by place of the name
	keepers []keeper
}

// readGuards adds the targets of what running pods keep away, and returns them by place of
// the name.
func (c *compiler) readGuards() []int {
	out := make([]int, len(c.cluster.watch.names))
	for i, g := range c.cluster.watch.names {
		out[i] = c.bonds.anti(g.by, g.term, 0).target
	}
	return out
}

// postKeepers returns what running pods keep away, sorted by label, target, node and pod:
// targets have the order of their names.
func (c *compiler) postKeepers(targets []int) []keeper {
	w := c.cluster.watch
	if k := c.memory.kept; k != nil && k.watch == w && slices.Equal(k.targets, targets) {
		return k.keepers
	}
	out := make([]keeper, len(w.posts))
	for i := range w.posts {
		p := &w.posts[i]
		out[i] = keeper{tie: tie{kind: antiTie, key: p.key, target: targets[p.at]}, node: p.node, pod: p.pod}
	}
	c.memory.kept = &kept{watch: w, targets: targets, keepers: out}
	return out
}

// posts are the places of the keepers, -1 where their node is none.
func (k *country) posts(w *watch) []int32 {
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

// kept yields the keepers whose nodes have the label that they are about, with the places of
// these.
func (l *land) kept() iter.Seq2[*keeper, int] {
	posts := l.country.posts(l.cluster.watch)
	return func(yield func(*keeper, int) bool) {
		var column *placeColumn
		for i, n := range posts {
			k := &l.keepers[i]
			if i == 0 || k.key != l.keepers[i-1].key {
				column = l.country.column(k.key)
			}
			if n >= 0 && column.numbers[n] >= 0 && !yield(k, int(n)) {
				return
			}
		}
	}
}
