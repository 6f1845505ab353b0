package steps

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// nodeRules are the rules by which nodes may go at a time: expiry, drift, and which pods a drain evicts.
type nodeRules struct {
	planner *disruption.Planner
	now     time.Time
}

// expired reports whether the node is older than it may become: 720 hours where neither
// machine nor pool says otherwise.
func (r *nodeRules) expired(s *clusterNode) bool {
	life := s.machine.ExpireAfter
	if life == nil {
		if s.node.Pool == nil {
			return false
		}
		life = s.node.Pool.Object.Spec.Template.Spec.ExpireAfter
	}
	most := 720 * time.Hour
	if life != nil {
		if life.Duration == nil {
			return false
		}
		most = *life.Duration
	}
	created := s.created()
	return !created.IsZero() && r.now.Sub(created) >= most
}

// drift returns how the node differs from the demands of its pool; "" if it does not.
func (r *nodeRules) drift(s *clusterNode) string {
	if s.node.Pool == nil {
		return ""
	}
	noted := s.machine.Annotations
	if noted == nil {
		noted = s.node.Running.Annotations
	}
	const hash, version = "karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"
	has := func(labels map[string]string) bool {
		_, one := labels[hash]
		_, other := labels[version]
		return one && other
	}
	if of := s.node.Pool.Object.Annotations; has(of) && has(noted) && of[version] == noted[version] && of[hash] != noted[hash] {
		return "the template of the NodePool has changed"
	}
	labels := snapshot.StableLabels(s.node.Running.Labels)
	for _, e := range s.node.Pool.Asks {
		value, ok := labels[requirements.NormalizeKey(e.Key)]
		if !e.Holds(value, ok) {
			return "the NodePool requires " + e.String()
		}
	}
	if created := s.created(); r.planner.LiveCatalog && s.node.Pool.Catalog.Len() > 0 && !created.IsZero() && r.now.Sub(created) > time.Hour && !r.stillSold(s, labels) {
		return "the instance type is not in the catalog"
	}
	return s.machine.Drift
}

// stillSold reports whether the catalog knows the machine, available or not. A reserved one may
// have become one on demand.
func (r *nodeRules) stillSold(s *clusterNode, labels map[string]string) bool {
	t, ok := s.node.Pool.Catalog.Get(labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return false
	}
	zone, by := labels[corev1.LabelTopologyZone], labels[offerings.CapacityTypeLabel]
	kinds := []string{by}
	if by == "reserved" {
		kinds = append(kinds, "on-demand")
	}
	for _, o := range t.Offerings {
		if (zone == "" || o.Zone == zone) && (by == "" || slices.Contains(kinds, string(o.CapacityType))) {
			return true
		}
	}
	return false
}

// disruptsFor reports whether the planner disrupts nodes for the reason.
func (r *nodeRules) disruptsFor(reason disruption.Reason) bool {
	p := r.planner
	switch {
	case !slices.Contains(reasons(), reason):
		return false
	case reason == disruption.Misplaced:
		return p.Rebalance || slices.Contains(p.Reasons, reason)
	}
	return len(p.Reasons) == 0 || slices.Contains(p.Reasons, reason)
}

// evictable reports whether draining evicts the pod, so that PodDisruptionBudgets count it.
func (r *nodeRules) evictable(pod *corev1.Pod) bool {
	if snapshot.Tolerated(corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}, pod.Spec.Tolerations) {
		return false
	}
	return snapshot.Live(pod) && !snapshot.IsMirror(pod) && !doNotDisrupt(pod, r.now)
}
