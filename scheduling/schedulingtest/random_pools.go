package schedulingtest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func (w *world) nodePools() []*scheduling.NodePool {
	n := w.between(1, w.size.Pools)
	if w.size.Pools == 0 || w.oneIn(40) {
		n = 0
	}
	// Weights all alike, all different, or drawn.
	weights := w.IntN(3)
	pools := make([]*scheduling.NodePool, 0, n)
	for i := range n {
		var opts []NodePoolOption
		switch {
		case weights == 1:
			opts = append(opts, Weight(int32(min(10*i+1, 100))))
		case weights == 2 && w.oneIn(2):
			opts = append(opts, Weight(pick[int32](w.dice, 1, 50, 100)))
		}
		pools = append(pools, w.withoutContradictions(NodePool(fmt.Sprintf("pool-%d", i), append(opts, w.poolOptions()...)...)))
	}
	return pools
}

// withoutContradictions drops the requirements on keys for which the pool asks the
// impossible: no API server would have such a pool.
func (w *world) withoutContradictions(p *scheduling.NodePool) *scheduling.NodePool {
	s := &p.Spec.Template.Spec
	set, err := requirements.FromSelectors(s.Requirements)
	set = set.Intersect(requirements.FromLabels(p.Spec.Template.Metadata.Labels))
	s.Requirements = slices.DeleteFunc(s.Requirements, func(r requirements.Selector) bool {
		return err != nil || set.Get(r.Key).Empty()
	})
	return p
}

func (w *world) poolOptions() []NodePoolOption {
	var opts []NodePoolOption
	for range w.few(2) {
		opts = append(opts, Where(w.expr()))
	}
	opts = append(opts, w.poolLabels()...)
	if w.oneIn(6) {
		opts = append(opts, Where(Gte(cpuKey, 2), Lte(cpuKey, 8)))
	}
	if w.oneIn(5) {
		opts = append(opts, Where(w.floor()))
	}
	if w.oneIn(3) {
		opts = append(opts, w.taint())
	}
	if w.oneIn(4) {
		opts = append(opts, StartupTaint("example.com/starting", "", corev1.TaintEffectNoSchedule))
	}
	if w.oneIn(3) {
		opts = append(opts, w.limit())
	}
	if w.oneIn(30) {
		opts = append(opts, Replicas(2))
	}
	return opts
}

// poolLabels gives values to custom keys, or leaves them open to the pods.
func (w *world) poolLabels() []NodePoolOption {
	var opts []NodePoolOption
	for _, k := range w.keys {
		switch w.IntN(5) {
		case 0:
			opts = append(opts, Label(k.key, pick(w.dice, k.values...)))
		case 1:
			opts = append(opts, Where(Exists(k.key)))
		case 2:
			opts = append(opts, Where(In(k.key, some(w.dice, k.values...)...)))
		case 3:
			if w.oneIn(3) {
				opts = append(opts, Where(NotIn(k.key, pick(w.dice, k.values...))))
			}
		}
	}
	return opts
}

// floor asks for a choice of values in every launch.
func (w *world) floor() requirements.Selector {
	switch w.IntN(3) {
	case 0:
		return AtLeast(w.between(1, 3), Exists(corev1.LabelInstanceTypeStable))
	case 1:
		return AtLeast(w.between(1, 2), Exists(familyKey))
	default:
		return AtLeast(1, In(corev1.LabelTopologyZone, w.zones...))
	}
}

func (w *world) limit() NodePoolOption {
	switch w.IntN(6) {
	case 0:
		return MaxNodes(int64(w.between(0, 4)))
	case 1:
		return Limit(GiB(int64(w.between(4, 128))))
	case 2:
		return Limit(Count(gpuResource, int64(w.between(0, 4))))
	case 3:
		return Limit(Cores(int64(w.between(2, 32))), GiB(int64(w.between(8, 128))), Count(scheduling.NodesResource, 6))
	default:
		return Limit(Cores(int64(w.between(2, 64))))
	}
}

func (w *world) taint() TaintOption {
	effect := pick(w.dice, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule,
		corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)
	return Taint("example.com/dedicated", pick(w.dice, taintValues()...), effect)
}

func taintValues() []string { return []string{"batch", "7", ""} }

// poolOf is a pool that may buy the offering, or nil. It looks at In requirements
// on zone and capacity type only: nodes that a pool would not buy today exist, too.
func (w *world) poolOf(o offerings.Offering) *scheduling.NodePool {
	allows := func(p *scheduling.NodePool) bool {
		for _, r := range p.Spec.Template.Spec.Requirements {
			if r.Operator != requirements.In {
				continue
			}
			value, ok := o.NodeLabels()[r.Key]
			if ok && !slices.Contains(r.Values, value) {
				return false
			}
		}
		return true
	}
	var fit []*scheduling.NodePool
	for _, p := range w.pools {
		if allows(p) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return pick(w.dice, fit...)
}
