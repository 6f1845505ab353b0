package binding

import "math"

// most is the highest score of a plugin, and the weights are those of the default profile
// (k8s.io/kubernetes/pkg/scheduler/apis/config/v1, getDefaultPlugins).
const (
	most               int64 = 100
	weightTaints       int64 = 3
	weightNodeAffinity int64 = 2
	weightSpread       int64 = 2
	weightPodAffinity  int64 = 2
)

// resourceScore is NodeResourcesFit and NodeResourcesBalancedAllocation.
func (r *Run) resourceScore(x *class, at int32) int64 {
	n, k := &r.loads[at], r.kind(at)
	fit := r.s.fit.score(x, n.scored, k.basic, r.state, at)
	if x.effortless {
		return fit
	}
	with := balance([2]int64{n.requested[0] + x.plain[0], n.requested[1] + x.plain[1]}, k.basic)
	return fit + most/2 + (most/2+with-n.balance)/2
}

// balance is higher the more alike the shares are that are used of CPU and memory
// (noderesources.balancedResourceScore).
func balance(used, all [2]int64) int64 {
	if all[0] == 0 || all[1] == 0 {
		return most
	}
	a, b := min(1, float64(used[0])/float64(all[0])), min(1, float64(used[1])/float64(all[1]))
	return int64((1 - math.Abs((a-b)/2)) * float64(most))
}

// hasPreferences reports whether the pods prefer some nodes to others.
func (x *class) hasPreferences() bool {
	return len(x.preferences) > 0 || len(x.pods.Soft) > 0 || len(x.pods.Preferred) > 0
}

// addPreferences adds the scores of the plugins for taints, node affinity, spread and pod
// affinity to those of the feasible nodes.
func (r *Run) addPreferences(c int32, x *class) {
	values := r.terms[:0]
	for _, n := range r.feasible {
		values = append(values, int64(r.kind(n).soft[x.pods.Number]))
	}
	r.terms = values
	if top := maxOf(values); top > 0 {
		for i, v := range values {
			r.score[i] += weightTaints * (most - most*v/top)
		}
	}
	if len(x.preferences) > 0 {
		for i, n := range r.feasible {
			values[i] = r.kind(n).granted[c]
		}
		if top := maxOf(values); top > 0 {
			for i, v := range values {
				r.score[i] += weightNodeAffinity * (most * v / top)
			}
		}
	}
	if len(x.pods.Soft) > 0 {
		r.spreadScore(x, values)
	}
	r.affinityScore(x, values)
}

func (r *Run) kind(n int32) *kind { return &r.s.kinds[r.state.KindOf(n)] }

func maxOf(values []int64) (top int64) {
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

// spreadScore is PodTopologySpread's score for constraints that may be broken.
func (r *Run) spreadScore(x *class, values []int64) {
	const ignored = -1
	eligible := 0
	for i, n := range r.feasible {
		values[i] = 0
		for k := range x.pods.Soft {
			if !x.pods.Lenient && r.state.Domain(x.pods.Soft[k].Axis, n) == -1 {
				values[i] = ignored
			}
		}
		if values[i] != ignored {
			eligible++
		}
	}
	sums := make([]float64, len(r.feasible))
	for k := range x.pods.Soft {
		t := &x.pods.Soft[k]
		size := eligible
		if !t.Host {
			size = r.distinct(t.Axis, values)
		}
		weight := math.Log(float64(size + 2))
		for i, n := range r.feasible {
			if values[i] != ignored && r.state.Domain(t.Axis, n) != -1 {
				sums[i] += float64(r.state.Count(t.Counter, r.state.Domain(t.Axis, n)))*weight + float64(t.MaxSkew-1)
			}
		}
	}
	low, high := int64(math.MaxInt64), int64(0)
	for i := range values {
		if values[i] != ignored {
			values[i] = int64(math.Round(sums[i]))
			low, high = min(low, values[i]), max(high, values[i])
		}
	}
	for i, v := range values {
		switch {
		case v == ignored:
		case high == 0:
			r.score[i] += weightSpread * most
		default:
			r.score[i] += weightSpread * (most * (high + low - v) / high)
		}
	}
}

// distinct counts the domains of the feasible nodes that are not ignored.
func (r *Run) distinct(axis int, values []int64) (n int) {
	r.seen = r.seen[:0]
	for i, at := range r.feasible {
		if values[i] < 0 {
			continue
		}
		d := int(r.state.Domain(axis, at)) + 1 // the first is that of nodes without the label
		if d >= len(r.seen) {
			r.seen = append(r.seen, make([]bool, d+1-len(r.seen))...)
		}
		if !r.seen[d] {
			r.seen[d] = true
			n++
		}
	}
	clear(r.seen)
	return n
}

// affinityScore is InterPodAffinity's score: terms of the pod, and of those that are bound.
func (r *Run) affinityScore(x *class, values []int64) {
	if len(x.pods.Preferred) == 0 && len(x.pods.Holders) == 0 {
		return
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, n := range r.feasible {
		values[i] = 0
		for k := range x.pods.Preferred {
			t := &x.pods.Preferred[k]
			values[i] += t.Weight * r.state.Count(t.Counter, r.state.Domain(t.Axis, n))
		}
		for _, k := range x.pods.Holders {
			if h := r.s.Model.Holder(k); h.Weight != 0 {
				values[i] += h.Weight * r.state.Held(k, r.state.Domain(h.Axis, n))
			}
		}
		low, high = min(low, values[i]), max(high, values[i])
	}
	if high <= low {
		return
	}
	for i, v := range values {
		r.score[i] += weightPodAffinity * int64(float64(most)*(float64(v-low)/float64(high-low)))
	}
}
