package prove

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// maxExclusiveKinds bounds how many kinds of exclusive pods are surrogate resources of a bound, maxNamedExclusive of
// how many it knows that a node has one pod.
const maxExclusiveKinds, maxNamedExclusive = 4, 64

// exclusivePods are pods of which only one can be on a node, in whatever order they are bound:
// each of them is selected by the required anti-affinity per host of all of them.
type exclusivePods struct {
	target  int
	members model.Bits // planned classes
	pods    int64
	// spokesman is one of the pods, term the place among its required terms of
	// anti-affinity of the one that says so.
	spokesman *corev1.Pod
	term      int
}

// exclusiveKinds finds the exclusive pods among the placed pods, the kinds with the most pods
// first. Two targets are one if the same placed pods are among them.
func (pr *Prover) exclusiveKinds() []exclusivePods {
	found := map[int]*exclusivePods{}
	for i, n := range pr.placed {
		if n <= 0 {
			continue
		}
		class, terms := pr.Planned[i], 0
		for k := range pr.TopologyTerms.List[class.TopologyTerms].Ties {
			t := &pr.TopologyTerms.List[class.TopologyTerms].Ties[k]
			if t.Kind != podspec.AntiTie || t.Weight != 0 {
				continue
			}
			term := terms
			terms++ // such ties are in the order of the terms
			if !t.PerHost() || !pr.TopologyTerms.Targets.Has(class.Among, t.Target) {
				continue
			}
			x := found[t.Target]
			if x == nil {
				x = &exclusivePods{target: t.Target, members: model.NewBits(len(pr.placed)), spokesman: class.Pods[0], term: term}
				found[t.Target] = x
			}
			if !x.members.Has(i) {
				x.members.Set(i)
				x.pods += n
			}
		}
	}
	var out []exclusivePods
	alike := map[string]int{}
	for _, target := range slices.Sorted(maps.Keys(found)) {
		x := found[target]
		name := string(pr.amongPlaced(target))
		if at, ok := alike[name]; ok {
			y := &out[at]
			x.members.Each(func(i int) {
				if !y.members.Has(i) {
					y.members.Set(i)
					y.pods += pr.placed[i]
				}
			})
			continue
		}
		alike[name] = len(out)
		out = append(out, *x)
	}
	out = slices.DeleteFunc(out, func(x exclusivePods) bool { return x.pods < 2 })
	slices.SortStableFunc(out, func(a, b exclusivePods) int { return cmp.Compare(b.pods, a.pods) })
	return out
}

// alike reports whether the exclusive pods are of one class but for their priority: a machine
// holds one pod of it.
func (pr *Prover) alike(x *exclusivePods) bool {
	first, same := -1, true
	x.members.Each(func(i int) {
		if first < 0 {
			first = i
		}
		a, b := pr.Planned[first], pr.Planned[i]
		same = same && a.Group == b.Group && slices.Equal(a.Requests, b.Requests)
	})
	return same
}

// hostsNamed reports whether all nodes have a host name: without one, nobody is kept apart.
func (pr *Prover) hostsNamed() bool {
	return !slices.ContainsFunc(pr.Nodes, func(n *compile.ExistingNode) bool { return !n.Named })
}

// amongPlaced is equal for targets that the same placed pods are among.
func (pr *Prover) amongPlaced(target int) []byte {
	var b []byte
	for i, n := range pr.placed {
		if n > 0 && pr.TopologyTerms.Targets.Has(pr.Planned[i].Among, target) {
			b = binary.AppendUvarint(b, uint64(i))
		}
	}
	return b
}
