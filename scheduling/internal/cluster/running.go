package cluster

import (
	"iter"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// tally is pods that run already: of which targets, where.
type tally struct {
	node   int32
	counts []int32 // the counters that it counts for
	going  bool    // it is being deleted and does not count for spreads
	holder int     // a holder that it is, or -1
}

// readRunning notes the running pods that terms are about.
func (r *reader) readRunning(kept []preference) {
	sets := r.m.In.TopologyTerms.Targets.Sets
	l := r.m.In.Locations()
	name := make([]string, len(l.Places))
	for n, i := range l.NodeAt {
		name[i] = n
	}
	numbers := map[string]int{}
	for i, set := range sets {
		numbers[setName(set)] = i
	}
	number := func(set []int32) int {
		n, ok := numbers[setName(set)]
		if !ok { // no pod that waits is among just these
			n = len(r.countedBy)
			numbers[setName(set)] = n
			var counted []int32
			for i := range r.m.counts {
				if !r.m.counts[i].together && slices.Contains(set, int32(r.m.counts[i].target)) {
					counted = append(counted, int32(i))
				}
			}
			r.countedBy = append(r.countedBy, counted)
		}
		return n
	}
	l.RunningSets(func(pod *corev1.Pod, node int, among []int32) {
		if n, ok := r.m.names[name[node]]; ok {
			r.m.running = append(r.m.running, tally{node: n, counts: r.countedBy[number(among)], going: pod.DeletionTimestamp != nil, holder: -1})
		}
	})
	for _, h := range r.m.In.Facts.Cluster.Hosts {
		n, ok := r.m.names[h.Name]
		if r.together == nil || !ok {
			continue
		}
		for _, pod := range h.Pods {
			if list := r.belonging(pod); len(list) > 0 {
				r.m.running = append(r.m.running, tally{node: n, counts: list, going: pod.DeletionTimestamp != nil, holder: -1})
			}
		}
	}
	for _, k := range kept {
		if n, ok := r.m.names[k.host]; ok {
			r.m.running = append(r.m.running, tally{node: n, holder: k.holder})
		}
	}
	for i := range r.m.In.ExistingAntiAffinity {
		k := &r.m.In.ExistingAntiAffinity[i]
		holder := slices.IndexFunc(r.m.holders, func(h Holder) bool {
			return h.required && h.target == k.Term.Target && r.m.axes[h.Axis].key == k.Term.Key
		})
		if n, ok := r.m.names[k.Node]; ok && holder >= 0 {
			r.m.running = append(r.m.running, tally{node: n, holder: holder})
		}
	}
}

// noTarget is the target of holders of which each class says by itself whether it is meant.
const noTarget = -1

// preference is a holder with a node on which a running pod holds it.
type preference struct {
	host   string
	holder int
}

// readPreferences reads the terms of running pods that make nodes better or worse for pods
// that wait: their preferences, and the affinity that they require. Of a class, the first pod
// tells whether a term means it.
func (r *reader) readPreferences() (out []preference) {
	known := map[string]int{} // holders, -1 where no class is meant
	for _, h := range r.m.In.Facts.Cluster.Hosts {
		for _, pod := range h.Pods {
			for term, weight := range preferences(pod) {
				name := strconv.FormatInt(weight, 10) + " " + term.TopologyKey + " " + string(podspec.AppendTargetName(nil, pod, []corev1.PodAffinityTerm{*term}))
				n, ok := known[name]
				if !ok {
					n = r.hold(pod, term, weight)
					known[name] = n
				}
				if n >= 0 {
					out = append(out, preference{h.Name, n})
				}
			}
		}
	}
	return out
}

// hold adds a holder for a term of a running pod, unless it means no class.
func (r *reader) hold(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) int {
	n := -1
	selector := r.m.In.TopologyTerms.Selector(pod, term)
	for i := range r.m.Classes {
		if x := r.m.In.Planned[i].Pods[0]; selector.Matches(podspec.NamespaceOf(x), x.Labels) {
			if n < 0 {
				n = len(r.m.holders)
				r.m.holders = append(r.m.holders, Holder{target: noTarget, Axis: r.axisOf(term.TopologyKey), Weight: weight})
			}
			r.m.Classes[i].Holders = append(r.m.Classes[i].Holders, int32(n))
		}
	}
	return n
}

// preferences yields the terms of a bound pod that count for the scores of nodes for other
// pods, with their weights.
func preferences(pod *corev1.Pod) iter.Seq2[*corev1.PodAffinityTerm, int64] {
	return func(yield func(*corev1.PodAffinityTerm, int64) bool) {
		a := pod.Spec.Affinity
		if a == nil {
			return
		}
		if near := a.PodAffinity; near != nil {
			for i := range near.RequiredDuringSchedulingIgnoredDuringExecution {
				if !yield(&near.RequiredDuringSchedulingIgnoredDuringExecution[i], hardAffinityWeight) {
					return
				}
			}
			for i := range near.PreferredDuringSchedulingIgnoredDuringExecution {
				if t := &near.PreferredDuringSchedulingIgnoredDuringExecution[i]; !yield(&t.PodAffinityTerm, int64(t.Weight)) {
					return
				}
			}
		}
		if apart := a.PodAntiAffinity; apart != nil {
			for i := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
				if t := &apart.PreferredDuringSchedulingIgnoredDuringExecution[i]; !yield(&t.PodAffinityTerm, -int64(t.Weight)) {
					return
				}
			}
		}
	}
}

func setName(set []int32) string {
	b := make([]byte, 0, 4*len(set))
	for _, n := range set {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}
