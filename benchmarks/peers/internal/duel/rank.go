package duel

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// rank says how early a pool is to be used for a pod: one of more weight before others, and
// of the same weight one that has no PreferNoSchedule taint against the pod before those
// that have. Whether wishes are granted makes no difference to it.
type rank struct {
	weight int32
	shuns  bool // the pod, by such a taint
}

func compareRanks(a, b rank) int {
	if c := cmp.Compare(a.weight, b.weight); c != 0 || a.shuns == b.shuns {
		return c
	}
	if a.shuns {
		return -1
	}
	return 1
}

// ranks tells the ranks of pools for pods, by their names.
func ranks(p scheduling.Problem) func(pod, pool string) rank {
	pods, pools := map[string]*corev1.Pod{}, map[string]*scheduling.NodePool{}
	for _, pod := range p.Pods {
		pods[name(pod)] = pod
	}
	for _, pool := range p.NodePools {
		pools[pool.Name] = pool
	}
	return func(podName, poolName string) rank {
		pool := pools[poolName]
		if pool == nil {
			return rank{}
		}
		var r rank
		if pool.Spec.Weight != nil {
			r.weight = *pool.Spec.Weight
		}
		var tolerations []corev1.Toleration
		if pod := pods[podName]; pod != nil {
			tolerations = pod.Spec.Tolerations
		}
		_, r.shuns = corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), pool.Spec.Template.Spec.Taints, tolerations,
			func(t *corev1.Taint) bool { return t.Effect == corev1.TaintEffectPreferNoSchedule }, false)
		return r
	}
}

// demoted is the first pod that is in a pool of lower rank there than here, if of the
// pods that both place fewer are in pools of the highest rank of which the numbers
// differ. Our plan shows that the pool of higher rank can hold it, which verify does not
// see where a pool needs several types.
func demoted(p scheduling.Problem, here, there map[string]string) string {
	of := ranks(p)
	found, lost := "", map[rank]int{}
	for _, pod := range slices.Sorted(maps.Keys(there)) {
		pool, ok := here[pod]
		if !ok {
			continue
		}
		ours, theirs := of(pod, pool), of(pod, there[pod])
		lost[ours]++
		lost[theirs]--
		if found == "" && compareRanks(theirs, ours) < 0 {
			found = pod
		}
	}
	for _, r := range slices.Backward(slices.SortedFunc(maps.Keys(lost), compareRanks)) {
		switch n := lost[r]; {
		case n > 0:
			return found
		case n < 0:
			return ""
		}
	}
	return ""
}
