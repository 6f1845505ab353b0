package duel

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Broken returns the rules that the machines of an outcome break, by verify's code for each,
// and verify's text about the first pod or machine that breaks it. Rules about other statements
// of a plan, e.g. its reasons for refusals, do not count, because only our plans have them.
func Broken(p scheduling.Problem, o peer.Outcome, solver scheduling.Policy) map[verify.Code]string {
	var report *verify.Report
	err := verify.Checker{Policy: solver}.Plan(p, o.Plan(p))
	broken := map[verify.Code]string{}
	if len(o.Impossible) > 0 {
		broken[verify.CodeNoOptions] = o.Impossible[0]
	}
	if !errors.As(err, &report) {
		return broken
	}
	for _, v := range report.Violations {
		if _, ok := broken[v.Code]; !ok && about(v.Code) {
			broken[v.Code] = v.Error()
		}
	}
	return broken
}

// about reports whether a rule concerns purchases or places of pods.
func about(c verify.Code) bool {
	switch c {
	case verify.CodePodDuplicated, verify.CodePodUnknown, verify.CodePodNotPending, verify.CodePodHeld, verify.CodeWeightIgnored,
		verify.CodePoolUnknown, verify.CodePoolClosed, verify.CodeLimits, verify.CodeReservation,
		verify.CodeTypeUnknown, verify.CodeOfferingUnknown, verify.CodeOfferingUnavailable, verify.CodePoolRequirements, verify.CodeLaunchLabels,
		verify.CodeNodeAffinity, verify.CodeTaints, verify.CodeHostPorts, verify.CodeResources,
		verify.CodeVolume, verify.CodeVolumeApart, verify.CodeVolumeGone, verify.CodeVolumeInUse, verify.CodeAttachLimit,
		verify.CodeTopologySpread, verify.CodePodAffinity, verify.CodePodAntiAffinity:
		return true
	}
	return false
}

// Draw returns a random problem that both planners can express: without the default spread
// constraints of kube-scheduler's configuration and without ReadWriteOncePod claims, which
// Karpenter does not model; without node affinity of local volumes, because Karpenter lets
// their pods go to new machines; and without nodes.
func Draw(seed uint64) scheduling.Problem {
	p := schedulingtest.Random(seed, schedulingtest.Size{TopologyTerms: true, Nodes: -1})
	p.DefaultSpread, p.Services, p.Owners = nil, nil, scheduling.Owners{}
	for _, c := range p.Claims {
		for i, mode := range c.Spec.AccessModes {
			if mode == corev1.ReadWriteOncePod {
				c.Spec.AccessModes[i] = corev1.ReadWriteOnce
			}
		}
	}
	for _, v := range p.Volumes {
		if v.Spec.Local != nil || v.Spec.HostPath != nil {
			v.Spec.NodeAffinity = nil
		}
	}
	return p
}

// rank is the order in which pools must be tried for a pod: higher weight first, and at
// equal weight pools without a PreferNoSchedule taint against the pod first. It is the same
// whether or not planners honour preferences.
type rank struct {
	weight int32
	shuns  bool // whether one of the pool's PreferNoSchedule taints rejects the pod
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
		pods[scheduling.PodName(pod)] = pod
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
