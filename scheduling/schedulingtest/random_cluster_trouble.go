package schedulingtest

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

const doNotDisrupt = "karpenter.sh/do-not-disrupt"

// machines tells when each node came, and of some of them that they have to go.
func (r *clusterWorld) machines(c *disruption.Cluster) {
	ago := func(most int) time.Time { return c.Now.Add(-time.Duration(r.between(0, most)) * time.Minute) }
	for _, node := range c.Nodes {
		created := ago(60 * 1000)
		node.CreationTimestamp = metav1.NewTime(created)
		if r.oneIn(8) {
			continue // all that is known of it is its object
		}
		m := disruption.Machine{Node: node.Name, Created: created, Initialized: created.Add(time.Minute), LastPodEvent: ago(120)}
		if !r.calm {
			r.troubleMachine(c, &m)
		}
		c.Machines = append(c.Machines, m)
	}
	r.Shuffle(len(c.Machines), func(i, j int) { c.Machines[i], c.Machines[j] = c.Machines[j], c.Machines[i] })
}

func (r *clusterWorld) troubleMachine(c *disruption.Cluster, m *disruption.Machine) {
	ago := func(most int) time.Time { return c.Now.Add(-time.Duration(r.between(0, most)) * time.Minute) }
	switch r.IntN(20) {
	case 0:
		m.Drift, m.DriftedAt = pick(r.dice, "AMIDrift", "NodeClassDrift"), ago(600)
	case 1:
		m.Interruption = &disruption.Interruption{At: c.Now.Add(2 * time.Minute), Kind: "spot"}
	case 2:
		m.Interruption = &disruption.Interruption{}
	case 3:
		m.NominatedUntil = c.Now.Add(time.Duration(r.between(-30, 30)) * time.Second)
	case 4:
		m.Terminating = true
	case 5:
		m.ExpireAfter = lasting(time.Duration(r.between(0, 2000)) * time.Hour)
	case 6:
		m.ExpireAfter = &scheduling.NillableDuration{}
	case 7:
		m.Annotations = map[string]string{"karpenter.sh/nodepool-hash": pick(r.dice, "1", "2"), "karpenter.sh/nodepool-hash-version": pick(r.dice, "v3", "v2")}
	case 8: // its clock is ahead of ours
		ahead := time.Duration(r.between(1, 300)) * time.Minute
		m.Created, m.Initialized, m.LastPodEvent = c.Now.Add(ahead), c.Now.Add(ahead), c.Now.Add(ahead)
	case 9:
		m.Created, m.Initialized, m.LastPodEvent = time.Time{}, time.Time{}, time.Time{}
	case 10:
		m.Initialized, m.LastPodEvent = time.Time{}, time.Time{}
	case 11:
		m.TerminationGracePeriod = &metav1.Duration{Duration: time.Duration(r.between(0, 10)) * time.Minute}
		m.Drift, m.DriftedAt = "AMIDrift", ago(600)
	case 12:
		m.LastPodEvent = time.Time{}
	}
}

// troubleNodes makes nodes into what nobody expects.
func (r *clusterWorld) troubleNodes(c *disruption.Cluster) {
	for _, node := range c.Nodes {
		switch r.IntN(24) {
		case 0:
			annotate(&node.ObjectMeta, doNotDisrupt, pick(r.dice, "true", "true", "false", "True", "10m"))
		case 1:
			Deleting().applyNode(node)
		case 2:
			Disrupted().applyNode(node)
		case 3:
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: pick(r.dice, corev1.ConditionFalse, corev1.ConditionUnknown)}}
		case 4:
			delete(node.Labels, pick(r.dice, corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, scheduling.CapacityTypeLabel, scheduling.NodePoolLabel, scheduling.InitializedLabel))
		case 5:
			node.Labels[corev1.LabelInstanceTypeStable] = "gone.large"
		case 6:
			node.Labels[scheduling.NodePoolLabel] = "gone"
		case 7: // nobody sells it so, or asks another price
			node.Labels[scheduling.CapacityTypeLabel] = pick(r.dice, "spot", "on-demand", "reserved", "capacity-block")
		case 8:
			Cordoned().applyNode(node)
		case 9:
			Taint("example.com/quarantine", "", corev1.TaintEffectNoSchedule).applyNode(node)
		}
	}
}

// troublePods makes pods into what is hard to move, or not to be moved at all.
func (r *clusterWorld) troublePods(c *disruption.Cluster) {
	for _, pod := range c.Running {
		switch r.IntN(30) {
		case 0:
			annotate(&pod.ObjectMeta, doNotDisrupt, pick(r.dice, "true", "false", "10m", "48h", "0s", "-5m", "soon"))
		case 1:
			annotate(&pod.ObjectMeta, doNotDisrupt, pick(r.dice, "10m", "48h"))
			pod.Status.StartTime = nil
		case 2:
			annotate(&pod.ObjectMeta, corev1.PodDeletionCost, pick(r.dice, "100", "-2147483648", "2147483647", "dear", "1e9"))
		case 3:
			Deleting().applyPod(pod)
		case 4:
			OwnedBy("StatefulSet", "old").applyPod(pod)
			Deleting().applyPod(pod)
		case 5:
			annotate(&pod.ObjectMeta, corev1.MirrorPodAnnotationKey, "a file")
		case 6:
			pod.Status.Conditions = nil
		case 7:
			Phase(pick(r.dice, corev1.PodSucceeded, corev1.PodFailed)).applyPod(pod)
		case 8:
			TolerateKey(scheduling.DisruptedTaint, "").applyPod(pod)
		case 9:
			Priority(pick[int32](r.dice, -100, 1000, 2_000_000_000)).applyPod(pod)
		}
	}
}

func annotate(m *metav1.ObjectMeta, key, value string) {
	if m.Annotations == nil {
		m.Annotations = make(map[string]string)
	}
	m.Annotations[key] = value
}

// disruptionBudgets draws budgets for pods, those that block, overlap and are about nobody
// among them.
func (r *clusterWorld) disruptionBudgets(c *disruption.Cluster) {
	if len(c.Running) == 0 || r.oneIn(4) {
		return
	}
	for i := range r.few(5) {
		pod := pick(r.dice, c.Running...)
		labels := pod.Labels
		if r.oneIn(6) {
			labels = nil // everything in the namespace
		}
		b := DisruptionBudget("budget-"+strings.Repeat("x", i+1), labels, pick(r.dice, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromString("100%")))
		b.Namespace = pod.Namespace
		if !r.calm {
			r.troubleBudget(b)
		}
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, b)
	}
	countBudgets(c)
	for _, b := range c.PodDisruptionBudgets {
		if r.oneIn(4) {
			b.Status = policyv1.PodDisruptionBudgetStatus{} // its controller has not seen it
		}
	}
}

func (r *clusterWorld) troubleBudget(b *podBudget) {
	switch r.IntN(10) {
	case 0:
		*b.Spec.MaxUnavailable = pick(r.dice, intstr.FromInt32(0), intstr.FromString("0%"))
	case 1:
		least := pick(r.dice, intstr.FromString("100%"), intstr.FromString("50%"), intstr.FromInt32(1), intstr.FromInt32(100))
		b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, &least
	case 2:
		b.Namespace = "elsewhere"
	case 3:
		b.Spec.Selector = nil // matches no pod
	case 4:
		always := policyv1.AlwaysAllow
		b.Spec.UnhealthyPodEvictionPolicy = &always
	case 5:
		b.Spec.MaxUnavailable = nil // neither: nothing may go
	case 6:
		b.Generation = 7 // changed since
	}
}
