package prove

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// maxLimits bounds the per-node limits that are surrogate resources, maxNamedLimits the further ones that are limits of
// a class.
const maxLimits, maxNamedLimits = 4, 64

// perNodeLimit is a limit on the pods of some classes on one node, in every binding order: required anti-affinity per
// host (1), or topology spread over hosts. The latter is the skew, because a new node has no such pod, so the minimum is
// 0.
type perNodeLimit struct {
	limitKey
	targets []int      // targets that select the same placed pods
	members model.Bits // planned classes
	pods    int64
	places  map[int]int64 // by node, the limit where it is not most
	// representative is a pod with the constraint; term is the index of the term among its required anti-affinity terms.
	representative *corev1.Pod
	term           int
}

// limitKey is equal for constraints that are one limit.
type limitKey struct {
	kind   podspec.TopologyTermKind
	target int
	most   int64
}

// limitOf is the limit that a constraint sets for pods that it selects itself. ok is false for constraints that set
// none, e.g. a host spread with [scheduling.PlacementFree], where kube-scheduler compares only existing nodes.
func limitOf(in *instance.Instance, t *podspec.TopologyTerm) (key limitKey, ok bool) {
	switch {
	case !t.PerHost() || t.Weight != 0 || t.Share:
		return key, false
	case t.Kind == podspec.AntiAffinityTerm:
		return limitKey{t.Kind, t.Target, 1}, true
	}
	return limitKey{t.Kind, t.Target, t.MaxSkew}, t.Kind == podspec.SpreadTerm && in.Facts.Solver.Placement != scheduling.PlacementFree
}

// perNodeLimits are the limits of the placed pods that can be exceeded; those that need the most nodes come first.
// Constraints with targets that select the same placed pods are one limit.
func (pr *prover) perNodeLimits() []perNodeLimit {
	found := map[limitKey]*perNodeLimit{}
	for i, n := range pr.placed {
		if n <= 0 {
			continue
		}
		class, term := pr.in.Planned[i], -1
		for k := range pr.in.TopologyTerms.List[class.TopologyTerms].Terms {
			t := &pr.in.TopologyTerms.List[class.TopologyTerms].Terms[k]
			if t.Kind == podspec.AntiAffinityTerm && t.Weight == 0 {
				term++ // because terms are in the order of the pod's terms
			}
			key, ok := limitOf(pr.in, t)
			if !ok || !pr.in.TopologyTerms.Targets.Has(class.Among, t.Target) {
				continue
			}
			x := found[key]
			if x == nil {
				x = &perNodeLimit{limitKey: key, targets: []int{t.Target}, members: model.NewBits(len(pr.placed)), representative: class.Pods[0], term: term}
				found[key] = x
			}
			if !x.members.Has(i) {
				x.members.Set(i)
				x.pods += n
			}
		}
	}
	var out []perNodeLimit
	alike := map[string]int{}
	for _, key := range slices.SortedFunc(maps.Keys(found), func(a, b limitKey) int {
		return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.kind, b.kind), cmp.Compare(a.most, b.most))
	}) {
		x := found[key]
		name := fmt.Sprint(key.kind, key.most, string(pr.amongPlaced(key.target)))
		if at, ok := alike[name]; ok {
			y := &out[at]
			y.targets = append(y.targets, key.target)
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
	out = slices.DeleteFunc(out, func(x perNodeLimit) bool { return x.pods <= x.most })
	slices.SortStableFunc(out, func(a, b perNodeLimit) int { return cmp.Compare(b.pods/b.most, a.pods/a.most) })
	return out
}

// findPlaces fills places: nodes with running pods that all of the limit's targets select, and nodes without a host
// name, which have no limit.
func findPlaces(in *instance.Instance, x *perNodeLimit) {
	x.places = map[int]int64{}
	if len(in.Nodes) == 0 {
		return
	}
	l := in.Locations()
	l.RunningSets(func(pod *corev1.Pod, at int, among []int32) {
		others := func(target int) bool { return !slices.Contains(among, int32(target)) }
		if node := int(l.BinOf[at]); node >= 0 && (x.kind == podspec.AntiAffinityTerm || pod.DeletionTimestamp == nil) && !slices.ContainsFunc(x.targets, others) {
			left, known := x.places[node]
			if !known {
				left = x.most
			}
			x.places[node] = max(0, left-1)
		}
	})
	for node, n := range in.Nodes {
		if !n.Named {
			x.places[node] = x.pods
		}
	}
}

// perNode is the lower of the limit and another limit on pods per node; others 0 is no other limit.
func (x *perNodeLimit) perNode(others int64) int64 {
	if others == 0 {
		return x.most
	}
	return min(others, x.most)
}

// alike reports whether the limit's pods have equal node constraints and requests.
func alike(in *instance.Instance, x *perNodeLimit) bool {
	first, same := -1, true
	x.members.Each(func(i int) {
		if first < 0 {
			first = i
		}
		a, b := in.Planned[first], in.Planned[i]
		same = same && a.Group == b.Group && slices.Equal(a.Requests, b.Requests)
	})
	return same
}

// hostsNamed reports whether all nodes have a host name. Pods on a node without one are not kept apart.
func hostsNamed(in *instance.Instance) bool {
	return !slices.ContainsFunc(in.Nodes, func(n *instance.ExistingNode) bool { return !n.Named })
}

// amongPlaced is a key of the placed pods that a target selects.
func (pr *prover) amongPlaced(target int) []byte {
	pr.amongOnce.Do(func() {
		pr.among = map[int32][]byte{}
		seen := map[int]bool{} // because many classes have the same targets
		for i, n := range pr.placed {
			if set := pr.in.Planned[i].Among; n > 0 && !seen[set] {
				seen[set] = true
				for _, of := range pr.in.TopologyTerms.Targets.Sets[set] {
					pr.among[of] = binary.AppendUvarint(pr.among[of], uint64(set)) //nolint:gosec // it is not negative
				}
			}
		}
	})
	return pr.among[int32(target)] //nolint:gosec // a number of targets
}
