package compile

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// guard is a required anti-affinity term of a running pod, which keeps others away from its node.
type guard struct {
	key    string // of the label that its node and others share
	target string // name of whom it keeps away, see termReader.target
	node   string
	pod    string
	by     *corev1.Pod
	term   *corev1.PodAffinityTerm
}

// guardsOf are the terms by which a running pod keeps others away.
func guardsOf(pod *corev1.Pod) []guard {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	out := make([]guard, len(terms))
	name := podspec.PodName(pod)
	for i := range terms {
		target := string(podspec.AppendTargetName(nil, pod, terms[i:i+1]))
		out[i] = guard{key: terms[i].TopologyKey, target: target, node: pod.Spec.NodeName, pod: name, by: pod, term: &terms[i]}
	}
	return out
}

// SortedGuards are the terms by which pods on hosts keep others away, sorted by label, target, node
// and pod.
func SortedGuards(hosts []*Host) []guard {
	var out []guard
	for _, h := range hosts {
		out = append(out, h.Guards...)
	}
	slices.SortFunc(out, func(a, b guard) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.target, b.target), cmp.Compare(a.node, b.node), cmp.Compare(a.pod, b.pod))
	})
	return out
}

// readGuards adds the targets of what running pods keep away. Once targets are numbered in the
// order of their names, that is in the order of [ExistingAntiAffinity]'s label, target, node and pod.
func (c *Compiler) readGuards() {
	c.ExistingAntiAffinity = make([]ExistingAntiAffinity, len(c.Cluster.Guards))
	for i := range c.Cluster.Guards {
		g, tie := &c.Cluster.Guards[i], podspec.Tie{}
		if i > 0 && g.target == c.Cluster.Guards[i-1].target && g.key == c.Cluster.Guards[i-1].key {
			tie = c.ExistingAntiAffinity[i-1].Tie
		} else {
			tie = anti(c.TopologyTerms, g.by, g.term, 0)
		}
		c.ExistingAntiAffinity[i] = ExistingAntiAffinity{Tie: tie, Node: g.node, Pod: g.pod}
	}
}

// Kept yields the anti-affinity of running pods whose nodes have the label that it is about, with the
// places of these.
func (l *LocationIndex) Kept() iter.Seq2[*ExistingAntiAffinity, int] {
	return func(yield func(*ExistingAntiAffinity, int) bool) {
		var column *placeColumn
		for i := range l.ExistingAntiAffinity {
			k := &l.ExistingAntiAffinity[i]
			if i == 0 || k.Key != l.ExistingAntiAffinity[i-1].Key {
				column = l.Country.Column(k.Key)
			}
			if n, ok := l.NodeAt[k.Node]; ok && column.numbers[n] >= 0 && !yield(k, n) {
				return
			}
		}
	}
}
