package verify

import (
	"slices"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// keepOff is the annotation by which nodes and pods ask to be left alone.
const keepOff = "karpenter.sh/do-not-disrupt"

// drained checks that every node of the step may go, and notes those that are there.
func (a *stepCheck) drained() {
	seen := make(map[string]bool)
	for _, name := range a.step.Drain {
		object := "node/" + name
		s := a.cluster.there[name]
		switch {
		case seen[name]:
			a.report.add(NodeDuplicated, object, "is drained twice")
			continue
		case s == nil:
			a.report.add(NodeUnknown, object, "is not there when the step begins")
			continue
		case a.buys(name):
			a.report.add(NodeUnknown, object, "is a machine that the step itself launches")
			continue
		}
		seen[name] = true
		a.going = append(a.going, s)
		if s.fresh && !a.mayUndo(a.cluster.bought[name]) {
			a.report.add(MovedTwice, object, "is a machine that an earlier step has launched")
			continue
		}
		a.mayGo(s, object)
	}
}

// mayGo checks that the node may go for the step's reason.
func (a *stepCheck) mayGo(s *clusterNode, object string) {
	if s.node.Leaves() || s.machine.Terminating {
		a.report.add(NodeLeaving, object, "is being removed already")
		return
	}
	a.concerns(s, object)
	if forced(a.step.Reason) {
		return
	}
	switch {
	case s.node.Pool == nil:
		a.report.add(NotDisruptable, object, "no pool that is there owns it")
		return
	case s.node.Pool.Catalog.Len() == 0:
		a.report.add(NotDisruptable, object, "its pool has no instance types")
	case s.node.Pool.Object.Spec.Replicas != nil:
		a.report.add(NotDisruptable, object, "its pool is static")
	case snapshot.InFlight(s.node.Running):
		a.report.add(NotDisruptable, object, "has not become ready yet")
	case s.machine.NominatedUntil.After(a.cluster.now):
		a.report.add(NotDisruptable, object, "pods are expected there until %v", s.machine.NominatedUntil)
	}
	if s.machine.MustStay != "" {
		a.report.add(NotDisruptable, object, "must stay: %s", s.machine.MustStay)
	}
	if s.node.Running.Annotations[keepOff] == "true" {
		a.report.add(DoNotDisrupt, object, "the node asks to be left alone")
	}
	for _, pod := range s.pods {
		if a.cluster.checker.Planner.KeepBarePods && livesOn(pod) && metav1.GetControllerOf(pod) == nil {
			a.report.add(BarePod, object, "pod %s has no controller", snapshot.ObjectName(pod))
		}
	}
	if a.step.Reason == disruption.Empty || a.step.Reason == disruption.Underutilized {
		a.consolidatable(s, object)
	}
	if a.step.Reason == disruption.Drifted && s.graceful() {
		return // draining ends by force, so that pods hold nothing back
	}
	for _, pod := range s.pods {
		if asksForPeace(pod, a.cluster.now) {
			a.report.add(DoNotDisrupt, object, "pod %s asks to be left alone", snapshot.ObjectName(pod))
		}
		if !a.cluster.evictable(pod) {
			continue
		}
		budgets := a.cluster.podBudgetsFor(pod)
		if len(budgets) > 1 {
			a.report.add(PodBudget, object, "pod %s has %d PodDisruptionBudgets, so that it cannot be evicted", snapshot.ObjectName(pod), len(budgets))
		}
		for _, b := range budgets {
			if b.allowed <= 0 {
				a.report.add(PodBudget, object, "%s lets no pod go, and pod %s is one of its", b.name, snapshot.ObjectName(pod))
			}
		}
	}
}

// concerns checks that the step's reason is one that the node gives.
func (a *stepCheck) concerns(s *clusterNode, object string) {
	switch a.step.Reason {
	case disruption.Interrupted:
		if s.machine.Interruption == nil {
			a.report.add(StepReason, object, "nothing is known of an interruption")
		}
	case disruption.Expired:
		if !a.cluster.expired(s) {
			a.report.add(StepReason, object, "has not expired")
		}
	case disruption.Drifted:
		if a.cluster.drift(s) == "" {
			a.report.add(StepReason, object, "has not drifted")
		}
	case disruption.Empty:
		for _, pod := range s.pods {
			if livesOn(pod) {
				a.report.add(StepReason, object, "is not empty: pod %s", snapshot.ObjectName(pod))
				return
			}
		}
	case disruption.Underutilized:
		if !s.priced {
			a.report.add(NotDisruptable, object, "its price is not known")
		}
	}
}

// consolidatable checks what the pool says about nodes that are to be saved.
func (a *stepCheck) consolidatable(s *clusterNode, object string) {
	d := &s.node.Pool.Object.Spec.Disruption
	created := s.created()
	if s.fresh {
		created = a.cluster.now
	}
	if d.ConsolidationPolicy == scheduling.WhenEmpty && a.step.Reason == disruption.Underutilized {
		a.report.add(Policy, object, "the pool is consolidated when nodes are empty only")
	}
	if after := d.ConsolidateAfter; after != nil {
		since := created
		for _, t := range []time.Time{s.machine.Initialized, s.machine.LastPodEvent} {
			if !t.IsZero() {
				since = t
			}
		}
		if s.fresh || a.cluster.stirred[s.node.Name] {
			since = a.cluster.now
		}
		if after.Duration == nil {
			a.report.add(Policy, object, "consolidateAfter of the pool is Never")
		} else if !since.IsZero() && a.cluster.now.Sub(since) < *after.Duration {
			a.report.add(TooSoon, object, "pods came or went at %v, and consolidateAfter is %v", since, after)
		}
	}
	if least := a.cluster.checker.Planner.MinLifetime; least > 0 && !created.IsZero() && a.cluster.now.Sub(created) < least {
		a.report.add(TooSoon, object, "came at %v, and nodes stay for %v at least", created, least)
	}
}

func (g *clusterState) machineOf(node string) *disruption.Machine {
	if m := g.machines[node]; m != nil {
		return m
	}
	return &disruption.Machine{}
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

// expired reports whether the node is older than it may become: 720 hours where neither
// machine nor pool says otherwise.
func (g *clusterState) expired(s *clusterNode) bool {
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
	return !created.IsZero() && g.now.Sub(created) >= most
}

// drift says how the node is no longer what its pool asks for; "" if it is.
func (g *clusterState) drift(s *clusterNode) string {
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
		return "the template of the pool has changed"
	}
	labels := stableLabels(s.node.Running)
	for _, e := range s.node.Pool.Asks {
		value, ok := labels[requirements.NormalizeKey(e.Key)]
		if !e.Holds(value, ok) {
			return "the pool requires " + e.String()
		}
	}
	if created := s.created(); g.checker.Planner.LiveCatalog && s.node.Pool.Catalog.Len() > 0 && !created.IsZero() && g.now.Sub(created) > time.Hour && !g.stillSold(s, labels) {
		return "the type is not in the catalog"
	}
	return s.machine.Drift
}

// stillSold reports whether the catalog knows the machine, available or not. A reserved one may
// have become one on demand.
func (g *clusterState) stillSold(s *clusterNode, labels map[string]string) bool {
	t, ok := s.node.Pool.Catalog.Get(labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return false
	}
	zone, by := labels[corev1.LabelTopologyZone], labels[scheduling.CapacityTypeLabel]
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

// reasons are those for which nodes are disrupted.
func reasons() []disruption.Reason {
	return []disruption.Reason{
		disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced,
	}
}

// forced reports whether nodes go for the reason whatever stands in the way.
func forced(r disruption.Reason) bool { return r == disruption.Interrupted || r == disruption.Expired }

// needsNoSaving reports whether nodes go for the reason even where that saves nothing, saves whether
// they go in order to save.
func needsNoSaving(r disruption.Reason) bool { return forced(r) || r == disruption.Drifted }

func saves(r disruption.Reason) bool { return r == disruption.Empty || r == disruption.Underutilized }

// mayUndo reports whether the step may move on what another one has moved or bought: what had
// to be done at once can be bettered, and what was done to save cannot.
func (a *stepCheck) mayUndo(number int) bool {
	return saves(a.step.Reason) && needsNoSaving(a.cluster.plan.Steps[number-1].Reason)
}

// head checks what the step says of itself, and notes its launches.
func (a *stepCheck) head() {
	step := a.step
	if len(step.Drain) == 0 && len(step.Evictions) == 0 {
		a.report.add(StepEmpty, "step", "drains no node and moves no pod")
	}
	if (step.Reason == disruption.Misplaced) != (len(step.Drain) == 0) {
		a.report.add(StepReason, "step", "the reason is %q, and %d nodes are drained", step.Reason, len(step.Drain))
	}
	if !a.cluster.disruptsFor(step.Reason) {
		a.report.add(StepReason, "step", "nodes are not to be disrupted for %q", step.Reason)
	}
	for i := range step.Launches {
		l := &step.Launches[i]
		switch {
		case a.cluster.there[l.Name] != nil || a.cluster.original[l.Name] != nil:
			a.report.add(LaunchName, launchName(l), "a node has the name")
		case a.cluster.bought[l.Name] != 0 && a.cluster.bought[l.Name] != a.number:
			a.report.add(LaunchName, launchName(l), "steps[%d] launches a machine of that name", a.cluster.bought[l.Name]-1)
		}
		a.cluster.bought[l.Name] = a.number
		if l.MinValuesRelaxed && step.Reason == disruption.Underutilized {
			a.report.add(MinValues, launchName(l), "relaxes minValues in order to save")
		}
	}
}

// disruptsFor reports whether the planner disrupts nodes for the reason.
func (g *clusterState) disruptsFor(r disruption.Reason) bool {
	p := &g.checker.Planner
	switch {
	case !slices.Contains(reasons(), r):
		return false
	case r == disruption.Misplaced:
		return p.Rebalance || slices.Contains(p.Reasons, r)
	}
	return len(p.Reasons) == 0 || slices.Contains(p.Reasons, r)
}

// buys reports whether the step launches a machine of that name.
func (a *stepCheck) buys(name string) bool {
	return slices.ContainsFunc(a.step.Launches, func(l scheduling.Launch) bool { return l.Name == name })
}

// isMirror reports whether a kubelet shows the pod that it runs on its own account.
func isMirror(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return ok || snapshot.Owner(pod, "Node") != ""
}

// livesOn reports whether the pod has to be somewhere else when its node is gone.
func livesOn(pod *corev1.Pod) bool {
	if snapshot.Owner(pod, "DaemonSet") != "" || isMirror(pod) || snapshot.Finished(pod) {
		return false
	}
	return pod.DeletionTimestamp == nil || snapshot.Owner(pod, "StatefulSet") != ""
}

// asksForPeace reports whether the pod does not want to be disrupted at the time.
func asksForPeace(pod *corev1.Pod, now time.Time) bool {
	if pod.Annotations["karpenter.sh/do-not-evict"] == "true" || pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false" {
		return snapshot.Live(pod)
	}
	text, ok := pod.Annotations[keepOff]
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

// evictable reports whether draining evicts the pod, so that budgets count.
func (g *clusterState) evictable(pod *corev1.Pod) bool {
	if snapshot.Tolerated(corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}, pod.Spec.Tolerations) {
		return false
	}
	return snapshot.Live(pod) && !isMirror(pod) && !asksForPeace(pod, g.now)
}

// readyPod is whether the pod says that it is ready; "" if it says nothing.
func readyPod(pod *corev1.Pod) corev1.ConditionStatus {
	c, _ := lo.Find(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return c.Status
}

// readyNode reports whether the node works, or does not say.
func readyNode(node *corev1.Node) bool {
	c, found := lo.Find(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return !found || c.Status == corev1.ConditionTrue
}
