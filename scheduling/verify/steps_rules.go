package verify

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/samber/lo"

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
	labels := stableLabels(s.node.Running)
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
	return snapshot.Live(pod) && !isMirror(pod) && !doNotDisrupt(pod, r.now)
}

func (s *clusterNode) created() time.Time {
	if s.machine.Created.IsZero() {
		return s.node.Running.CreationTimestamp.Time
	}
	return s.machine.Created
}

// graceful reports whether draining the node ends by force.
func (s *clusterNode) graceful() bool {
	return s.machine.TerminationGracePeriod != nil || s.node.Pool != nil && s.node.Pool.Object.Spec.Template.Spec.TerminationGracePeriod != nil
}

// reasons returns the reasons for which nodes are disrupted.
func reasons() []disruption.Reason {
	return []disruption.Reason{
		disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced,
	}
}

// forced reports whether nodes go for the reason without regard to budgets and annotations.
func forced(r disruption.Reason) bool { return r == disruption.Interrupted || r == disruption.Expired }

// needsNoSaving reports whether nodes go for the reason even where that saves no money.
func needsNoSaving(r disruption.Reason) bool { return forced(r) || r == disruption.Drifted }

func saves(r disruption.Reason) bool { return r == disruption.Empty || r == disruption.Underutilized }

// isMirror reports whether the pod shows a static pod of a kubelet.
func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok || snapshot.Owner(pod, "Node") != ""
}

// reschedulable reports whether the pod must be placed again when its node is gone.
func reschedulable(pod *corev1.Pod) bool {
	if snapshot.Owner(pod, "DaemonSet") != "" || isMirror(pod) || snapshot.Finished(pod) {
		return false
	}
	return pod.DeletionTimestamp == nil || snapshot.Owner(pod, "StatefulSet") != ""
}

// doNotDisrupt reports whether the pod asks not to be disrupted at the time.
func doNotDisrupt(pod *corev1.Pod, now time.Time) bool {
	if pod.Annotations["karpenter.sh/do-not-evict"] == "true" || pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" {
		return snapshot.Live(pod)
	}
	text, ok := pod.Annotations[doNotDisruptAnnotation]
	if !ok || !snapshot.Live(pod) {
		return false
	}
	if text == "true" {
		return true
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return false
	}
	return pod.Status.StartTime == nil || now.Before(pod.Status.StartTime.Add(d))
}

// readyPod returns the status of the pod's Ready condition; "" without one.
func readyPod(pod *corev1.Pod) corev1.ConditionStatus {
	c, _ := lo.Find(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return c.Status
}

// readyNode reports whether the node's Ready condition is true or missing.
func readyNode(node *corev1.Node) bool {
	c, found := lo.Find(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return !found || c.Status == corev1.ConditionTrue
}
