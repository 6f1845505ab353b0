package steps

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// checkDrained checks that every node of the step may go, and lists the nodes that exist in going.
func (a *stepCheck) checkDrained() {
	drains := &drainCheck{a.cluster, a.report, a.step.Reason}
	seen := make(map[string]bool)
	for _, name := range a.step.Drain {
		object := "node/" + name
		s := a.cluster.nodes[name]
		switch {
		case seen[name]:
			a.report.Add(rule.NodeDuplicated, object, "is drained twice")
			continue
		case s == nil:
			a.report.Add(rule.NodeUnknown, object, "does not exist when the step begins")
			continue
		case a.buys(name):
			a.report.Add(rule.NodeUnknown, object, "is launched by this step, and drained by it")
			continue
		}
		seen[name] = true
		a.going = append(a.going, s)
		if s.launched && !a.mayUndo(a.cluster.bought[name]) {
			a.report.Add(rule.MovedTwice, object, "was launched by an earlier step")
			continue
		}
		drains.mayGo(s, object)
	}
}

// mayUndo reports whether the step may move pods and machines that an earlier one has moved or launched: a later step
// may improve on one that had to come at once, but not on one that came to save.
func (a *stepCheck) mayUndo(number int) bool {
	return saves(a.step.Reason) && needsNoSaving(a.cluster.plan.Steps[number-1].Reason)
}

// checkStatements checks the step's own statements, and notes its launches.
func (a *stepCheck) checkStatements() {
	step := a.step
	if len(step.Drain) == 0 && len(step.Evictions) == 0 {
		a.report.Add(rule.StepEmpty, "step", "drains no node and moves no pod")
	}
	if (step.Reason == disruption.Misplaced) != (len(step.Drain) == 0) {
		a.report.Add(rule.StepReason, "step", "reason is %q, and %d nodes are drained", step.Reason, len(step.Drain))
	}
	if !a.cluster.rules.disruptsFor(step.Reason) {
		a.report.Add(rule.StepReason, "step", "reason %q is not enabled", step.Reason)
	}
	for i := range step.Launches {
		l := &step.Launches[i]
		switch {
		case a.cluster.nodes[l.Name] != nil || a.cluster.original[l.Name] != nil:
			a.report.Add(rule.LaunchName, launchplan.ObjectName(l), "a node has this name")
		case a.cluster.bought[l.Name] != 0 && a.cluster.bought[l.Name] != a.number:
			a.report.Add(rule.LaunchName, launchplan.ObjectName(l), "steps[%d] launches a node of this name", a.cluster.bought[l.Name]-1)
		}
		a.cluster.bought[l.Name] = a.number
		if l.MinValuesRelaxed && step.Reason == disruption.Underutilized {
			a.report.Add(rule.MinValues, launchplan.ObjectName(l), "minValues is relaxed for consolidation")
		}
	}
}

// buys reports whether the step launches a machine of that name.
func (a *stepCheck) buys(name string) bool {
	return slices.ContainsFunc(a.step.Launches, func(l scheduling.Launch) bool { return l.Name == name })
}

// drainCheck judges whether nodes may be drained for a reason.
type drainCheck struct {
	cluster *clusterState
	report  *rule.Report
	reason  disruption.Reason
}

// mayGo adds a violation for each rule by which the node must not be drained for the reason.
func (c *drainCheck) mayGo(s *clusterNode, object string) {
	if s.node.Leaves() || s.machine.Terminating {
		c.report.Add(rule.NodeLeaving, object, "is being removed already")
		return
	}
	c.checkReason(s, object)
	if forced(c.reason) {
		return
	}
	switch {
	case s.node.Pool == nil:
		c.report.Add(rule.NotDisruptable, object, "belongs to no NodePool of the input")
		return
	case s.node.Pool.Catalog.Len() == 0:
		c.report.Add(rule.NotDisruptable, object, "its NodePool has no instance types")
	case s.node.Pool.Object.Spec.Replicas != nil:
		c.report.Add(rule.NotDisruptable, object, "its NodePool is static (spec.replicas)")
	case snapshot.InFlight(s.node.Running):
		c.report.Add(rule.NotDisruptable, object, "is not initialized yet")
	case s.machine.NominatedUntil.After(c.cluster.rules.now):
		c.report.Add(rule.NotDisruptable, object, "is nominated for pods until %v", s.machine.NominatedUntil)
	}
	if s.machine.MustStay != "" {
		c.report.Add(rule.NotDisruptable, object, "cannot be removed: %s", s.machine.MustStay)
	}
	if s.node.Running.Annotations[doNotDisruptAnnotation] == "true" {
		c.report.Add(rule.DoNotDisrupt, object, "has the annotation karpenter.sh/do-not-disrupt")
	}
	for _, pod := range s.pods {
		if c.cluster.rules.planner.KeepBarePods && reschedulable(pod) && metav1.GetControllerOf(pod) == nil {
			c.report.Add(rule.BarePod, object, "pod %s is unmanaged (it would not be recreated)", snapshot.ObjectName(pod))
		}
	}
	if c.reason == disruption.Empty || c.reason == disruption.Underutilized {
		c.consolidatable(s, object)
	}
	if c.reason == disruption.Drifted && s.graceful() {
		return // draining ends by force, so that pods cannot prevent it
	}
	for _, pod := range s.pods {
		if doNotDisrupt(pod, c.cluster.rules.now) {
			c.report.Add(rule.DoNotDisrupt, object, "pod %s has the annotation karpenter.sh/do-not-disrupt", snapshot.ObjectName(pod))
		}
		if !c.cluster.rules.evictable(pod) {
			continue
		}
		budgets := c.cluster.budgets.of(pod)
		if len(budgets) > 1 {
			c.report.Add(rule.PodBudget, object, "pod %s has %d PodDisruptionBudgets, and Kubernetes evicts no pod with more than one", snapshot.ObjectName(pod), len(budgets))
		}
		for _, b := range budgets {
			if b.allowed <= 0 {
				c.report.Add(rule.PodBudget, object, "pod %[2]s is blocked by the PodDisruptionBudget %[1]s", b.name, snapshot.ObjectName(pod))
			}
		}
	}
}

// checkReason checks that the step's reason is one that the node gives.
func (c *drainCheck) checkReason(s *clusterNode, object string) {
	switch c.reason {
	case disruption.Interrupted:
		if s.machine.Interruption == nil {
			c.report.Add(rule.StepReason, object, "has no interruption notice")
		}
	case disruption.Expired:
		if !c.cluster.rules.expired(s) {
			c.report.Add(rule.StepReason, object, "has not expired")
		}
	case disruption.Drifted:
		if c.cluster.rules.drift(s) == "" {
			c.report.Add(rule.StepReason, object, "has not drifted")
		}
	case disruption.Empty:
		for _, pod := range s.pods {
			if reschedulable(pod) {
				c.report.Add(rule.StepReason, object, "is not empty: it has pod %s", snapshot.ObjectName(pod))
				return
			}
		}
	case disruption.Underutilized:
		if !s.priced {
			c.report.Add(rule.NotDisruptable, object, "has no known price")
		}
	}
}

// consolidatable checks the pool's policy and times for nodes that go in order to save.
func (c *drainCheck) consolidatable(s *clusterNode, object string) {
	d := &s.node.Pool.Object.Spec.Disruption
	created := s.created()
	if s.launched {
		created = c.cluster.rules.now
	}
	if d.ConsolidationPolicy == scheduling.WhenEmpty && c.reason == disruption.Underutilized {
		c.report.Add(rule.Policy, object, "consolidationPolicy of its NodePool is WhenEmpty")
	}
	if after := d.ConsolidateAfter; after != nil {
		since := created
		for _, t := range []time.Time{s.machine.Initialized, s.machine.LastPodEvent} {
			if !t.IsZero() {
				since = t
			}
		}
		if s.launched || c.cluster.received[s.node.Name] {
			since = c.cluster.rules.now
		}
		if after.Duration == nil {
			c.report.Add(rule.Policy, object, "consolidateAfter of its NodePool is Never")
		} else if !since.IsZero() && c.cluster.rules.now.Sub(since) < *after.Duration {
			c.report.Add(rule.TooSoon, object, "the last pod event was at %v, and consolidateAfter is %v", since, after)
		}
	}
	if least := c.cluster.rules.planner.MinLifetime; least > 0 && !created.IsZero() && c.cluster.rules.now.Sub(created) < least {
		c.report.Add(rule.TooSoon, object, "was created at %v, and the minimum lifetime is %v", created, least)
	}
}
